import { z } from 'zod'
import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { invalid } from '../http/errors.ts'
import { decodeCursor, encodeCursor } from '../http/keys.ts'
import type { MessageRow } from './views.ts'

/** The sort keys of a message: order and timestamp, absent ones last, then arrival (readings: Messages). */
const Keys = z.tuple([z.number().nullable(), z.number().nullable(), z.int32(), z.string()])
type Keys = z.infer<typeof Keys>

export type MessageListRow = MessageRow & { ordinal: number }

/** To be added to `columns`: the bodies of a message's parts, joined by commas. */
export const withParts = `, (
  select string_agg(p.body::text, ',' order by p.position) from parts p
  where p.trace_id = m.trace_id and p.incarnation = m.incarnation and p.ordinal = m.ordinal
) as parts`

export const order = 'm.sequence nulls last, m.timestamp nulls last, m.ordinal'
export const columns = `m.ordinal, m.id, m.external_id, m.role, m.text_content, m.model, m.sequence, m.timestamp, m.created_at, m.updated_at`

// Absent keys sort last: as infinity they compare like numbers.
export const behind = `and (coalesce(m.sequence, 'infinity'), coalesce(m.timestamp, 'infinity'), m.ordinal) > ($3::float8, $4::float8, $5::int4)`

/** The statement of a message list; parameters: trace id, limit, the keys to go on behind if any, and which life. */
export const messageStatement = (includeParts: boolean, after: boolean): string => `
  select ${columns} ${includeParts ? withParts : ''}
  from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation ${after ? behind : ''}
  where t.id = $1 and t.incarnation = $${after ? 6 : 3} order by ${order} limit $2`

/** Parameters of `messageStatement`, all but which life. @throws 400 for a cursor that is none of this trace's */
export const messageValues = (
  traceId: string,
  incarnation: bigint,
  limit: number | null,
  cursor: string | undefined,
): unknown[] => {
  if (cursor === undefined) return [traceId, limit]
  const keys = decodeCursor(cursor, Keys)
  if (!keys || keys[3] !== `${traceId}/${incarnation}`) throw invalid('cursor', 'is not a cursor of this list')
  return [traceId, limit, keys[0] ?? 'infinity', keys[1] ?? 'infinity', keys[2]]
}

export const messageCursor = (traceId: string, incarnation: bigint, row: MessageListRow): string =>
  encodeCursor(row.sequence, row.timestamp, row.ordinal, `${traceId}/${incarnation}`)

export const listMessages = (
  reads: Reads<ReadTables>,
  options: { incarnation: bigint; includeParts: boolean; values: readonly unknown[] },
): Promise<MessageListRow[]> => {
  const after = options.values.length > 2
  const name = `messages${options.includeParts ? '-parts' : ''}${after ? '-after' : ''}`
  return reads.rows<MessageListRow & Row>(name, messageStatement(options.includeParts, after), [
    ...options.values,
    options.incarnation,
  ])
}
