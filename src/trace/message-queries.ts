import { z } from 'zod'
import { listOrder } from '../../projections/messages.ts'
import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { invalid } from '../http/http-error.ts'
import { decodeCursor, encodeCursor } from '../http/keys.ts'
import type { MessageRow } from './views.ts'

/** The sort keys of a message: order and timestamp, absent ones last, then arrival. */
const Keys = z.tuple([z.number().nullable(), z.number().nullable(), z.int32(), z.string()])
type Keys = z.infer<typeof Keys>

export type MessageListRow = MessageRow & { ordinal: number }

/** To be added to `columns`: the bodies of a message's parts, joined by commas. */
export const withParts = `, (
  select string_agg(p.body::text, ',' order by p.position) from parts p
  where p.trace_id = m.trace_id and p.incarnation = m.incarnation and p.ordinal = m.ordinal
) as parts`

export const columns = `m.ordinal, m.id, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, m.created_at, m.updated_at`

const order = `${listOrder('m.sequence', 'm.timestamp')}, m.ordinal`

/**
 * What is listed of the messages of `t`, a trace in its life $6: from behind the keys $3 to $5 on, at most $2. Conditions and
 * order are those of the index, so it reads as many rows as it gives. A join puts the trace outside: nothing is sorted.
 */
export const listed = (shown: string): string => `
  select ${shown} from messages m
  where m.trace_id = t.id and m.incarnation = t.incarnation and (${order}) > ($3::float8, $4::float8, $5::int4)
  order by ${order} limit $2`

/** The trace of a list, as long as this life of it lasts. */
export const listedTrace = 't.id = $1 and t.incarnation = $6'

/** The statement of a message list; its parameters are those of `listed`. */
export const messageStatement = (includeParts: boolean): string => `
  select m.* from traces t cross join lateral (${listed(`${columns} ${includeParts ? withParts : ''}`)}) m
  where ${listedTrace}`

/** A limit that no trace reaches. */
export const ALL_MESSAGES = 2 ** 31 - 1

/** Before all messages: no key is that small. */
const BEFORE_ALL = ['-infinity', '-infinity', -1] as const

/** Parameters of `listed`. @throws 400 for a cursor that is none of this trace's */
export const messageValues = (
  traceId: string,
  incarnation: bigint,
  limit: number,
  cursor: string | undefined,
): unknown[] => {
  if (cursor === undefined) return [traceId, limit, ...BEFORE_ALL, incarnation]
  const keys = decodeCursor(cursor, Keys)
  if (!keys || keys[3] !== `${traceId}/${incarnation}`) throw invalid('cursor', 'is not a cursor of this list')
  return [traceId, limit, keys[0] ?? 'infinity', keys[1] ?? 'infinity', keys[2], incarnation]
}

export const messageCursor = (traceId: string, incarnation: bigint, row: MessageListRow): string =>
  encodeCursor(row.sequence, row.timestamp, row.ordinal, `${traceId}/${incarnation}`)

export const listMessages = (
  reads: Reads<ReadTables>,
  { includeParts, values }: { includeParts: boolean; values: readonly unknown[] },
): Promise<MessageListRow[]> =>
  reads.rows<MessageListRow & Row>(`messages${includeParts ? '-parts' : ''}`, messageStatement(includeParts), values)
