import type { ReadTables } from '../../tables/main.ts'
import { parseExact } from '../../base/json/exact.ts'
import { newYielding } from '../../base/yielding.ts'
import type { Part } from '../../contract/message.ts'
import type { Usage } from '../../contract/usage.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { TraceEvent } from '../trace/events.ts'
import { headsOf } from '../trace/messages/message.ts'
import { storedPart } from '../trace/messages/part.ts'
import { type MessageListRow, columns, sizeShown, withParts } from '../trace/messages/queries.ts'

export type RestatedEvent = Extract<TraceEvent, { type: 'MessageRestated' }>

/** A trace whose messages are restated, and the revision at which that begins. */
type RestatedTrace = {
  readonly id: string
  readonly namespaceId: string
  readonly incarnation: bigint
  readonly since: bigint
}

type PresentRow = MessageListRow & {
  class: RestatedEvent['data']['class']
  tools: string
  priced: string | null
}

/** The most messages that are read at once, and the approximate number of characters that they may have together. */
const MOST = 1_000
const CHUNK_SIZE = 512 * 1024

// From the ordinal $3 on, as many as fit into a chunk, at least one.
const presentStatement = `
  select ${columns}, m.class, m.tools,
    (select c.append_id from price_changes c where c.position = m.prices) as priced ${withParts} from (
    select m.*, sum(m.size) over (order by m.ordinal rows unbounded preceding) - m.size as before from (
      select m.*, (${sizeShown(true)})::int8 as size from messages m
      where m.trace_id = $1 and m.incarnation = $2 and m.ordinal >= $3 order by m.ordinal limit ${MOST}
    ) m
  ) m where m.before < ${CHUNK_SIZE} order by m.ordinal`

const orAbsent = <Key extends string, Value>(key: Key, value: Value | null | undefined) =>
  value === null || value === undefined ? {} : ({ [key]: value } as { [K in Key]: Value })

const partsIn = (row: PresentRow) =>
  row.parts ? (parseExact(`[${row.parts}]`) as Part[]).map((part) => storedPart(part)) : []

const restatedOf = ({ namespaceId, since }: RestatedTrace, row: PresentRow): RestatedEvent => {
  const texts = {
    ...orAbsent('textContent', row.text_content === null ? null : (JSON.parse(row.text_content) as string)),
    parts: partsIn(row),
  }
  const data = {
    externalId: row.external_id,
    namespaceId,
    since: Number(since),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ordinal: row.ordinal,
    role: row.role,
    ...orAbsent('model', row.model === null ? null : (JSON.parse(row.model) as string)),
    ...orAbsent('order', row.sequence),
    ...orAbsent('timestamp', row.timestamp),
    ...orAbsent('usage', row.usage === null ? null : (JSON.parse(row.usage) as Usage)),
    ...orAbsent('priced', row.priced),
    class: row.class,
    tools: JSON.parse(row.tools) as string[],
    ...texts,
    heads: headsOf(texts),
  }
  return { type: 'MessageRestated', data: data as RestatedEvent['data'] }
}

/** The present messages of a trace as events, in the order of their arrival. Takes the memory of a chunk of them. */
export async function* restatedMessages(
  reads: Pick<Reads<ReadTables>, 'rows'>,
  trace: RestatedTrace,
): AsyncGenerator<RestatedEvent> {
  const yielding = newYielding()
  for (let next = 0; ;) {
    const values = [trace.id, trace.incarnation, next]
    const rows = await reads.rows<PresentRow & Row>('messages-present', presentStatement, values)
    if (rows.length === 0) return
    for (const row of rows) {
      await yielding()
      yield restatedOf(trace, row)
    }
    next = rows.at(-1)!.ordinal + 1
  }
}
