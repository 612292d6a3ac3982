import type { DecodedEvent, WriteStatement } from '../../src/eventstore/engine/projection.ts'
import type { PastEntry, Place, TraceEvent } from '../../src/server/trace/events.ts'
import { entriesTable } from '../../src/tables/timeline.ts'

/** An event that erases all earlier events of its trace. */
export type Erasing = DecodedEvent<Extract<TraceEvent, { type: 'TraceDeleted' | 'HistoryErased' }>>

const DELETION = 'TraceDeleted'

type Deletion = {
  readonly externalId: string
  readonly createdAt: number
  readonly messageCount: number | undefined
  readonly movedTo?: Place | undefined
  readonly withdrawn?: true | undefined
}

/** The data of a deletion: of the trace only its name, its time of creation, its number of messages, and where it was moved to. */
export const deletionData = ({ externalId, createdAt, messageCount, movedTo, withdrawn }: Deletion) => ({
  externalId,
  createdAt,
  ...(messageCount === undefined ? {} : { messageCount }),
  ...(movedTo === undefined ? {} : { movedTo }),
  ...(withdrawn === undefined ? {} : { withdrawn }),
})

/** An entry that an erasing event records in the place of entries whose events it erases. */
type RecordedEntry = {
  readonly by: Erasing
  readonly type: string
  readonly revision: bigint | number
  readonly at: number
  readonly actor: string | undefined
  readonly requestId?: string | undefined
  readonly added?: number | undefined
  readonly updated?: number | undefined
  readonly data?: object | undefined
}

type RecordedRow = RecordedEntry & { readonly place: number }

/** Entries for the earlier deletions of an existing trace. Their revision is below that of all events that can be read. */
const earlierDeletions = (by: Erasing): RecordedEntry[] =>
  by.data.earlier.map(({ deletedAt, deletedBy, ...deletion }) => ({
    ...{
      by,
      type: DELETION,
      revision: by.type === DELETION ? by.revision : by.data.since - 1,
      at: deletedAt,
      actor: deletedBy,
    },
    data: deletionData({ externalId: by.data.externalId, ...deletion }),
  }))

/** The name that `count` of a past entry has in the data of an entry, by the entry's type. */
const counted: Readonly<Record<string, string>> = { TraceSummarised: 'messageCount', HistoryErased: 'erased' }

const ofThePast = (by: Erasing): RecordedEntry[] => {
  const past: readonly PastEntry[] = 'past' in by.data ? by.data.past : []
  return past.map(({ type, count, movedFrom, actor, ...entry }) => {
    const data = {
      ...(counted[type] && count !== undefined ? { [counted[type]]: count } : {}),
      ...(movedFrom === undefined ? {} : { movedFrom }),
    }
    return { by, type, actor, ...entry, data: Object.keys(data).length > 0 ? data : undefined }
  })
}

const recordedBy = (by: Erasing): RecordedRow[] => {
  const all = [...earlierDeletions(by), ...ofThePast(by)]
  return all.map((one, i) => ({ ...one, place: i - all.length }))
}

const recorded = entriesTable.unnest<RecordedRow>({
  position: ({ by }) => by.position,
  place: ({ place }) => place,
  namespace_id: ({ by }) => by.data.namespaceId,
  stream_id: ({ by }) => by.streamId,
  first_revision: ({ revision }) => revision,
  revision: ({ revision }) => revision,
  through: ({ by }) => by.revision,
  at: ({ at }) => at,
  type: ({ type }) => type,
  actor: ({ actor }) => actor,
  request_id: ({ requestId }) => requestId,
  added: ({ added }) => added,
  updated: ({ updated }) => updated,
  data: ({ data }) => data && JSON.stringify(data),
})

const newest = entriesTable.unnest<Erasing>({
  stream_id: ({ streamId }) => streamId,
  position: ({ position }) => position,
})

const removeBefore = `
  delete from entries e using ${newest.as('u')} cross join lateral (
    select r.ctid from entries r
    where r.stream_id = u.stream_id and r.type = '${DELETION}' and r.position < u.position
  ) found where e.ctid = found.ctid`

/**
 * Writes the entries that these events record, the newest ones of their traces. Each event erases earlier ones, so the entries of earlier
 * deletions and of an erased past are always made from it, and come directly before its own, also while the log still has their events.
 */
export const writeRecordedEntries = (erasing: readonly Erasing[], write: WriteStatement): void => {
  const all = erasing.flatMap(recordedBy)
  write('timeline-deleted-before', removeBefore, newest.values(erasing))
  if (all.length > 0) write('timeline-earlier', recorded.insert, recorded.values(all))
}
