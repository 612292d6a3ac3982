import type { DecodedEvent, WriteStatement } from '../../src/engine/projection.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { entries } from './tables.ts'

export type Deleted = DecodedEvent<Extract<TraceEvent, { type: 'TraceDeleted' }>>

/** What is told of a deletion: nothing of the trace but its name, how long it was there and how much it held. */
export const deletionData = (externalId: string, createdAt: number, messageCount: number | undefined) => ({
  externalId,
  createdAt,
  ...(messageCount === undefined ? {} : { messageCount }),
})

/** A deletion before another one of the same trace; `rank` counts from 1 for the newest of them. */
type EarlierDeletion = {
  readonly last: Deleted
  readonly rank: number
  readonly of: Deleted['data']['earlier'][number]
}

const earlierOf = (last: Deleted): EarlierDeletion[] =>
  last.data.earlier.toReversed().map((of, i) => ({ last, rank: i + 1, of }))

const earlierDeletions = entries.unnest<EarlierDeletion>({
  position: ({ last }) => last.position,
  place: ({ rank }) => rank,
  namespace_id: ({ last }) => last.data.namespaceId,
  stream_id: ({ last }) => last.streamId,
  revision: ({ last }) => last.revision,
  at: ({ of }) => of.deletedAt,
  actor: ({ of }) => of.deletedBy,
  data: ({ last, of }) => JSON.stringify(deletionData(last.data.externalId, of.createdAt, of.messageCount)),
})

// A deletion erases the events of those before it, and says itself what is left of them: their rows are made of that, so that
// they are the same when the log is read again. Rows that are there stay where they are in the order of the log.
const writeEarlier = `
  with u as materialized (select * from ${earlierDeletions.as('b')}),
  old as materialized (
    select s.stream_id, e.position, e.place,
      row_number() over (partition by s.stream_id order by e.position desc, e.place desc)::int4 as rank
    from (select distinct stream_id, position from u) s cross join lateral (
      select r.position, r.place from entries r
      where r.stream_id = s.stream_id and r.type = 'TraceDeleted' and r.position < s.position
    ) e
  ), kept as (
    update entries e set at = u.at, actor = u.actor, request_id = null, data = u.data
    from old join u on u.stream_id = old.stream_id and u.place = old.rank
    where e.position = old.position and e.place = old.place
  ), dropped as (
    delete from entries e using old
    where e.position = old.position and e.place = old.place
      and not exists (select from u where u.stream_id = old.stream_id and u.place = old.rank)
  )
  insert into entries (position, place, namespace_id, stream_id, first_revision, revision, through, at, type, actor, data)
  select u.position, -u.place, u.namespace_id, u.stream_id, u.revision, u.revision, u.revision, u.at, 'TraceDeleted', u.actor, u.data
  from u where not exists (select from old where old.stream_id = u.stream_id and old.rank = u.place)`

/** Writes an entry for each deletion that these, the newest ones of their traces, tell of. */
export const writeEarlierDeletions = (deleted: readonly Deleted[], write: WriteStatement): void => {
  const earlier = deleted.flatMap(earlierOf)
  if (earlier.length > 0) write('timeline-earlier', writeEarlier, earlierDeletions.values(earlier))
}
