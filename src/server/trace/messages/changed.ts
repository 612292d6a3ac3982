import type { ReadTables } from '../../../tables/main.ts'
import { BrokenOff } from '../../http/long-list.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import {
  type MessageListRow,
  type RevisedRow,
  changedAfter,
  columns,
  listOrdered,
  revised,
  sizeShown,
  withParts,
} from './queries.ts'

/** A message, with the revisions of the events that have added it and changed it last. */
export type ChangedMessage = MessageListRow & { readonly revision: bigint; readonly added: bigint }

/** Some of the messages that have changed since a revision: those that changed first, in list order. */
type ChangedMessages = {
  readonly rows: readonly ChangedMessage[]
  /** `rows` has everything that has changed up to this revision of the trace. */
  readonly revision: bigint
  /** Whether more has changed after it. */
  readonly hasMore: boolean
}

/** How many changed messages one statement examines: more than a batch of messages may have. */
const MOST = 1_000

type ChangedRow = RevisedRow & ChangedMessage & { readonly found: number }

/** Whether message `m` is in the piece: see `changedMessages`. */
const inPiece = `(m.through_batch <= $4 or m.first_batch = m.batch and m.before < $5)
  and (m.found < ${MOST} or m.batch < m.last_batch or m.first_batch = m.last_batch)`

// Some of the messages of trace $1 in its incarnation $2 that have changed since its revision $3, in the order in which they changed.
// `batch` is the time of the request that changed a message: all messages of a request have the same. Messages that an erasure of the past
// has restated keep older times, so the newest time so far counts. Sizes are those of the rows, without reading what is stored beside them.
export const changedStatement = (includeParts: boolean): string => `
  select t.revision as trace_revision, m.* from traces t left join lateral (
    select m.revision, m.added, m.found, ${columns} ${includeParts ? withParts : ''} from (
      select m.*, count(*) over ()::int4 as found,
        min(m.batch) over () as first_batch, max(m.batch) over () as last_batch,
        sum(m.size) over (order by m.revision rows unbounded preceding) - m.size as before,
        sum(m.size) over (order by m.batch) as through_batch
      from (
        select m.*, (${sizeShown(includeParts)})::int8 as size, max(m.updated_at) over (order by m.revision) as batch
        from (${changedAfter('$3', MOST)}) m
        order by m.revision limit ${MOST}
      ) m
    ) m where ${inPiece} order by ${listOrdered}
  ) m on true
  where t.id = $1 and t.incarnation = $2`

const newest = (rows: readonly ChangedRow[]) =>
  rows.reduce((most, { revision }) => (revision > most ? revision : most), 0n)

/** `size` and `most` are numbers of characters. */
type ChangedOptions = {
  readonly since: bigint
  readonly includeParts: boolean
  readonly size: number
  readonly most: number
}

/**
 * The messages that have changed since a revision of their trace: whole batches, at least one, up to `size` characters. A batch that is larger
 * than that is cut: its messages with less than `most` characters together, and one more.
 * @throws BrokenOff if the trace does not exist any more, or has another incarnation
 */
export const changedMessages = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  trace: { readonly id: string; readonly incarnation: bigint },
  { since, includeParts, size, most }: ChangedOptions,
): Promise<ChangedMessages> => {
  const name = `messages-changed${includeParts ? '-parts' : ''}`
  const values = [trace.id, trace.incarnation, since, size, most]
  const given = await reads.rows<ChangedRow & Row>(name, changedStatement(includeParts), values)
  if (given.length === 0) throw new BrokenOff('the trace was deleted meanwhile')
  const { rows, revision } = revised(given)
  const { found } = given[0]!
  const hasMore = rows.length > 0 && (rows.length < found || found === MOST)
  return { rows, revision: hasMore ? newest(given) : revision, hasMore }
}
