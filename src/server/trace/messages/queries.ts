import { type ReadTables, listOrder } from '../../../tables/main.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { partsLength, partsText } from './stored-parts.ts'
import type { MessageRow } from './views.ts'

/** The keys by which messages are sorted: their order, their timestamp, each infinite if a message has none, and their arrival. */
export type Keys = readonly [order: number, timestamp: number, ordinal: number]

export type MessageListRow = MessageRow & { ordinal: number }

/** A row of a list, with the revision of the trace. If the list is empty, there is one row without a message. */
export type RevisedRow = MessageListRow & { trace_revision: bigint }

/** To be added to `columns`: the bodies of a message's parts, joined by commas. `m` must have `columnsOfParts`. */
export const withParts = `, ${partsText} as parts`

/** About how many characters of message `m` are shown. */
export const sizeShown = (includeParts: boolean): string =>
  `500 + coalesce(pg_column_size(m.text_content), 0) ${includeParts ? `+ ${partsLength}` : ''}`

export const columns = `m.ordinal, m.id, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, m.usage, m.created_at, m.updated_at`

/** The order of a list of messages `m`. */
export const listOrdered = `${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

const ofTrace = 'm.trace_id = t.id and m.incarnation = t.incarnation'
const firstOfBlock = (upTo: string) => `(
  select b.first from message_blocks b where b.trace_id = t.id and b.incarnation = t.incarnation and b.revision <= ${upTo}
  order by b.revision desc limit 1)`

/**
 * SQL for the messages `m` of the trace `t` that have changed since a revision: at most `limit` new ones, and at most `limit` that were changed
 * after they were added. New ones come after the beginning of the last block that is not newer than the revision; the others are in an index
 * of their own.
 */
export const changedAfter = (since: string, limit: number): string => `
  (select m.* from messages m
    where ${ofTrace} and m.ordinal >= coalesce(${firstOfBlock(since)}, 0) and m.added > ${since} and m.revision + 0 = m.added
    order by m.ordinal limit ${limit})
  union all
  (select m.* from messages m
    where ${ofTrace} and m.revision > ${since} and m.revision <> m.added order by m.revision limit ${limit})`

const after = `(${listOrdered}) > ($6::float8, $7::float8, $8::int4)`

/** Up to this many changed messages are found by their revisions, and sorted; if there are more, the whole list is read from its cursor on. */
const FEW = 2_000

// `m.revision + 0` keeps the planner from using the index of revisions: an expression has no index.
const changedSince = (limit: string) => `(
  with f as materialized (
    select m.ordinal from (${changedAfter('t.since', FEW + 1)}) m limit ${FEW + 1}
  ), c as materialized (select count(*) as count from f)
  select m.* from f cross join lateral (select * from messages m where ${ofTrace} and m.ordinal = f.ordinal limit 1) m
  where ${after} and (select count from c) <= ${FEW}
  union all (
    select m.* from messages m where ${ofTrace} and ${after} and m.revision + 0 > t.since and (select count from c) > ${FEW}
    order by ${listOrdered} limit ${limit}
  )
) m`

/**
 * SQL for the messages of the trace `t` after the keys $6 to $8, at most `limit`; with `isOfChanges` only those that have changed since its
 * revision `t.since`. Conditions and order are those of the index, so it reads as many rows as it returns. To be joined to `t` laterally: then
 * nothing is sorted.
 */
export const listed = (shown: string, isOfChanges: boolean, limit: string): string =>
  `select ${shown} from ${isOfChanges ? changedSince(limit) : `messages m where ${ofTrace} and ${after}`}
   order by ${listOrdered} limit ${limit}`

const oneStatement = (includeParts: boolean) => `
  select ${columns} ${includeParts ? withParts : ''}
  from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation
  where t.id = $1 and m.id = $2`

/** One message of a trace. @throws 404 if there is none */
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

/** The keys before all messages: no message has such small ones. */
export const BEFORE_ALL: Keys = [-Infinity, -Infinity, -1]

/** The rows that have a message, and the revision of their trace, which all of them have. */
export const revised = <R extends RevisedRow>(rows: readonly R[]) => {
  const { ordinal, trace_revision: revision } = rows[0]!
  return { rows: (ordinal as number | null) === null ? [] : [...rows], revision }
}
