import { type ReadTables, listOrder } from '../../../projections/tables.ts'
import type { Reads, Row } from '../../engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { partsLength, partsText } from './stored-parts.ts'
import type { MessageRow } from './views.ts'

/** What messages are sorted by: order and timestamp, infinite where there is none, then arrival. */
export type Keys = readonly [order: number, timestamp: number, ordinal: number]

/** What is asked for: `values` as `messageValues` gives them, and what is known of the trace. */
export type WantedMessages = {
  readonly incarnation: bigint
  /** At least so many characters its messages hold: they become more only. */
  readonly weight: number
  readonly includeParts: boolean
  readonly chosen: Chosen
  readonly values: readonly unknown[]
}

/** A name for each text of a statement: PostgreSQL prepares a statement once under each name. */
export const statementName = (name: string, wanted: Pick<WantedMessages, 'includeParts' | 'chosen'>): string =>
  `${name}-${wanted.chosen}${wanted.includeParts ? '-parts' : ''}`

export type MessageListRow = MessageRow & { ordinal: number }

/** A row of a list, with the revision of the trace that the list is of; one without a message where there is none. */
export type RevisedRow = MessageListRow & { trace_revision: bigint }

/** To be added to `columns`: the bodies of a message's parts, joined by commas. `m` must be a whole row of `messages`. */
export const withParts = `, ${partsText} as parts`

/** About how many characters of message `m` are shown. */
export const sizeShown = (includeParts: boolean): string =>
  `500 + coalesce(pg_column_size(m.text_content), 0) ${includeParts ? `+ ${partsLength}` : ''}`

export const columns = `m.ordinal, m.id, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, m.created_at, m.updated_at`

/** The order of a list of messages `m`. */
export const listOrdered = `${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

const ofTrace = 'm.trace_id = t.id and m.incarnation = t.incarnation'
const behind = `(${listOrdered}) > ($3::float8, $4::float8, $5::int4)`

/**
 * Which messages a list shows. `few` and `many` show those that have changed since a revision of the trace: few are found by
 * that, and sorted; of many the whole list is read, from its cursor on.
 */
export type Chosen = 'all' | 'few' | 'many'

/**
 * The messages `m` of a trace that have changed since a revision of it, by that, at most so many. New ones are all behind the first of
 * the last block that is not newer; the others are in an index of the few that have changed after they were added.
 * `trace` are its id and incarnation.
 */
export const changedBehind = (
  trace: readonly [id: string, incarnation: string],
  since: string,
  limit?: number,
): string => {
  const [id, incarnation] = trace
  const ofTrace = `m.trace_id = ${id} and m.incarnation = ${incarnation}`
  const most = limit === undefined ? '' : `limit ${limit}`
  const first = `(
    select b.first from message_blocks b where b.trace_id = ${id} and b.incarnation = ${incarnation} and b.revision <= ${since}
    order by b.revision desc limit 1)`
  return `
    (select m.* from messages m
      where ${ofTrace} and m.ordinal >= coalesce(${first}, 0) and m.added > ${since} and m.revision + 0 = m.added
      order by m.ordinal ${most})
    union all
    (select m.* from messages m
      where ${ofTrace} and m.revision > ${since} and m.revision <> m.added order by m.revision ${most})`
}

// Which index is read is said here, not left to the planner: the conditions of a subquery with an offset stay its own, and a
// sum has no index.
const sources: { readonly [Choice in Chosen]: string } = {
  all: `messages m where ${ofTrace} and ${behind}`,
  few: `(${changedBehind(['t.id', 't.incarnation'], '$7')} offset 0) m where ${behind}`,
  many: `messages m where ${ofTrace} and ${behind} and m.revision + 0 > $7`,
}

/**
 * What is listed of the messages of `t`, a trace in its incarnation $6: from behind the keys $3 to $5 on, at most $2. Conditions and
 * order are those of the index, so it reads as many rows as it gives. A join puts the trace outside: nothing is sorted.
 */
export const listed = (shown: string, chosen: Chosen = 'all'): string =>
  `select ${shown} from ${sources[chosen]} order by ${listOrdered} limit $2`

/** The trace of a list, as long as this incarnation of it lasts. */
export const listedTrace = 't.id = $1 and t.incarnation = $6'

/** The statement of a message list; its parameters are those of `listed`. */
export const messageStatement = (includeParts: boolean, chosen: Chosen = 'all'): string => `
  select t.revision as trace_revision, m.* from traces t
  left join lateral (${listed(`${columns} ${includeParts ? withParts : ''}`, chosen)}) m on true
  where ${listedTrace}`

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

/** Up to so many changed messages are found by their revisions. */
const FEW = 2_000

export const chosenStatement = `
  select count(*)::int4 as count from (${changedBehind(['$1', '$2'], '$3', FEW + 1)}) m`

/** How the messages that have changed since a revision are found best. */
export const chosenFor = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { id, incarnation }: { readonly id: string; readonly incarnation: bigint },
  changedSince: bigint | undefined,
): Promise<Chosen> => {
  if (changedSince === undefined) return 'all'
  const [row] = await reads.rows<{ count: number }>('messages-chosen', chosenStatement, [id, incarnation, changedSince])
  return row!.count > FEW ? 'many' : 'few'
}

/** Before all messages: no key is that small. */
export const BEFORE_ALL: Keys = [-Infinity, -Infinity, -1]

/** Parameters of `listed`; `behind` are the keys of the message that the list goes on behind. */
export const messageValues = (
  traceId: string,
  incarnation: bigint,
  limit: number,
  behind: Keys = BEFORE_ALL,
  changedSince?: bigint,
): unknown[] => [traceId, limit, ...behind, incarnation, ...(changedSince === undefined ? [] : [changedSince])]

/** The messages of a list, and the revision of the trace that they are of. @throws 404 when the trace is gone */
export const listMessages = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  wanted: Pick<WantedMessages, 'includeParts' | 'chosen' | 'values'>,
): Promise<{ readonly rows: MessageListRow[]; readonly revision: bigint }> => {
  const { includeParts, chosen, values } = wanted
  const statement = messageStatement(includeParts, chosen)
  const rows = await reads.rows<RevisedRow & Row>(statementName('messages', wanted), statement, values)
  if (rows.length === 0) throw notFound()
  return revised(rows)
}

/** The rows that have a message, beside the revision that all of them have. */
export const revised = (rows: readonly RevisedRow[]) => {
  const { ordinal, trace_revision: revision } = rows[0]!
  return { rows: (ordinal as number | null) === null ? [] : [...rows], revision }
}
