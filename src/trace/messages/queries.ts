import { type ReadTables, listOrder } from '../../../projections/tables.ts'
import type { Reads, Row } from '../../engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { partsLength, partsText } from './stored-parts.ts'
import type { MessageRow } from './views.ts'

/** What messages are sorted by: order and timestamp, infinite where there is none, then arrival. */
export type Keys = readonly [order: number, timestamp: number, ordinal: number]

export type MessageListRow = MessageRow & { ordinal: number }

/** A row of a list, with the revision of the trace that the list is of; one without a message where there is none. */
export type RevisedRow = MessageListRow & { trace_revision: bigint }

/** To be added to `columns`: the bodies of a message's parts, joined by commas. `m` must have `columnsOfParts`. */
export const withParts = `, ${partsText} as parts`

/** About how many characters of message `m` are shown. */
export const sizeShown = (includeParts: boolean): string =>
  `500 + coalesce(pg_column_size(m.text_content), 0) ${includeParts ? `+ ${partsLength}` : ''}`

export const columns = `m.ordinal, m.id, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, m.created_at, m.updated_at`

/** The order of a list of messages `m`. */
export const listOrdered = `${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

const ofTrace = 'm.trace_id = t.id and m.incarnation = t.incarnation'
const firstOfBlock = (upTo: string) => `(
  select b.first from message_blocks b where b.trace_id = t.id and b.incarnation = t.incarnation and b.revision <= ${upTo}
  order by b.revision desc limit 1)`

/**
 * The messages `m` of the trace `t` that have changed since a revision of it, by that, of each kind at most so many. New ones are all
 * behind the first of the last block that is not newer; the others are in an index of the few that have changed after they were added.
 */
export const changedBehind = (since: string, limit: number): string => `
  (select m.* from messages m
    where ${ofTrace} and m.ordinal >= coalesce(${firstOfBlock(since)}, 0) and m.added > ${since} and m.revision + 0 = m.added
    order by m.ordinal limit ${limit})
  union all
  (select m.* from messages m
    where ${ofTrace} and m.revision > ${since} and m.revision <> m.added order by m.revision limit ${limit})`

const behind = `(${listOrdered}) > ($6::float8, $7::float8, $8::int4)`

/** Up to so many changed messages are found by their revisions, and sorted; of more the whole list is read, from its cursor on. */
const FEW = 2_000

// Which index is read is said here, not left to the planner: a sum has no index.
const changedSince = (limit: string) => `(
  with f as materialized (
    select m.ordinal from (${changedBehind('t.since', FEW + 1)}) m limit ${FEW + 1}
  ), c as materialized (select count(*) as count from f)
  select m.* from f cross join lateral (select * from messages m where ${ofTrace} and m.ordinal = f.ordinal limit 1) m
  where ${behind} and (select count from c) <= ${FEW}
  union all (
    select m.* from messages m where ${ofTrace} and ${behind} and m.revision + 0 > t.since and (select count from c) > ${FEW}
    order by ${listOrdered} limit ${limit}
  )
) m`

/**
 * What is listed of the messages of `t`, a trace in its incarnation: from behind the keys $6 to $8 on, at most `limit`; with
 * `isOfChanges` only those that have changed since its revision `t.since`. Conditions and order are those of the index, so it reads as many rows
 * as it gives. A join puts the trace outside: nothing is sorted.
 */
export const listed = (shown: string, isOfChanges: boolean, limit: string): string =>
  `select ${shown} from ${isOfChanges ? changedSince(limit) : `messages m where ${ofTrace} and ${behind}`}
   order by ${listOrdered} limit ${limit}`

const oneStatement = (includeParts: boolean) => `
  select ${columns} ${includeParts ? withParts : ''}
  from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 and m.id = $2`

/** One message of a trace. @throws 404 when it is gone */
export const oneMessage = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { traceId, id, includeParts }: { readonly traceId: string; readonly id: string; readonly includeParts: boolean },
): Promise<MessageRow> => {
  const name = `message-one${includeParts ? '-parts' : ''}`
  const [row] = await reads.rows<MessageListRow & Row>(name, oneStatement(includeParts), [traceId, id])
  if (!row) throw notFound()
  return row
}

/** A limit that no trace reaches. */
export const ALL_MESSAGES = 2 ** 31 - 1

/** Before all messages: no key is that small. */
export const BEFORE_ALL: Keys = [-Infinity, -Infinity, -1]

/** The rows that have a message, beside the revision that all of them have. */
export const revised = <R extends RevisedRow>(rows: readonly R[]) => {
  const { ordinal, trace_revision: revision } = rows[0]!
  return { rows: (ordinal as number | null) === null ? [] : [...rows], revision }
}
