import type { DecodedEvent, WriteStatement } from '../../src/engine/projection.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { entriesTable } from './tables.ts'

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

const told = entriesTable.unnest<EarlierDeletion>({
  position: ({ last }) => last.position,
  place: ({ rank }) => -rank,
  namespace_id: ({ last }) => last.data.namespaceId,
  stream_id: ({ last }) => last.streamId,
  first_revision: ({ last }) => last.revision,
  revision: ({ last }) => last.revision,
  through: ({ last }) => last.revision,
  at: ({ of }) => of.deletedAt,
  type: ({ last }) => last.type,
  actor: ({ of }) => of.deletedBy,
  data: ({ last, of }) => JSON.stringify(deletionData(last.data.externalId, of.createdAt, of.messageCount)),
})

const newest = entriesTable.unnest<Deleted>({
  stream_id: ({ streamId }) => streamId,
  position: ({ position }) => position,
})

const removeBefore = `
  delete from entries e using ${newest.as('u')} cross join lateral (
    select r.ctid from entries r
    where r.stream_id = u.stream_id and r.type = 'TraceDeleted' and r.position < u.position
  ) found where e.ctid = found.ctid`

/**
 * Writes an entry for each deletion that these, the newest ones of their traces, tell of. A deletion erases the events of those
 * before it: so their entries are made of it alone, and stand directly before its own, also while the log still has theirs.
 */
export const writeEarlierDeletions = (deleted: readonly Deleted[], write: WriteStatement): void => {
  const earlier = deleted.flatMap(earlierOf)
  write('timeline-deleted-before', removeBefore, newest.values(deleted))
  if (earlier.length > 0) write('timeline-earlier', told.insert, told.values(earlier))
}
