import type { Row } from '../engine/reads.ts'
import { BrokenOff } from '../http/long-list.ts'
import { int4s } from '../postgres/arrays.ts'
import { type FactsRow, factsColumns, factsOfMessage, factsOfRow } from '../trace/messages/message-facts.ts'
import { type MessageFacts, ShapeSoFar } from '../trace/shape.ts'
import { type PastDocuments, newPastDocuments } from './past-documents.ts'
import { pastOrder } from './past-order.ts'
import { type PastTrace, clientsOf } from './past.ts'
import type { HistoryServices } from './services.ts'

/** How many messages' facts are read at once; those of one message have at most 150,000 characters. */
const WINDOW = 200

type FoundRow = { ordinal: number; is_unchanged: boolean } & FactsRow

const factsStatement = `
  select m.ordinal, m.revision <= $4 as is_unchanged, ${factsColumns}
  from unnest($3::int4[]) with ordinality k (ordinal, nth) cross join lateral (
    select * from messages r where r.trace_id = $1 and r.incarnation = $2 and r.ordinal = k.ordinal limit 1
  ) m order by k.nth`

/** The facts of messages that have changed since, from their events. */
const factsOfChanged = async (documents: PastDocuments, changed: readonly number[]) => {
  const facts = new Map<number, MessageFacts>()
  for (let start = 0; start < changed.length;) {
    const { found, read } = await documents.documents(changed.slice(start))
    for (const [ordinal, { document }] of found[0]!) facts.set(ordinal, factsOfMessage(document))
    start += read
  }
  return facts
}

const addWindow = async (
  services: HistoryServices,
  past: PastTrace,
  { shape, documents, ordinals }: { shape: ShapeSoFar; documents: PastDocuments; ordinals: Int32Array },
): Promise<void> => {
  const values = [past.id, past.incarnation, int4s([...ordinals]), past.revision]
  const rows = await services.reads.rows<FoundRow & Row>('past-facts', factsStatement, values)
  if (rows.length < ordinals.length) throw new BrokenOff('the trace was deleted meanwhile')
  const changed = rows.flatMap(({ ordinal, is_unchanged }) => (is_unchanged ? [] : [ordinal]))
  const before = await factsOfChanged(documents, changed)
  for (const row of rows) shape.add(before.get(row.ordinal) ?? factsOfRow(row))
}

/**
 * The shape of the session at that moment, as JSON text; undefined if the trace had no messages.
 * @throws BrokenOff if the trace is deleted meanwhile
 */
export const pastShape = async (services: HistoryServices, past: PastTrace): Promise<string | undefined> => {
  if (past.messageCount === 0) return undefined
  const memo = services.memo.of(past).shape
  const known = memo.get()
  if (known) return known
  const inTurn = <T>(work: () => Promise<T>) => services.longLists.turn(clientsOf(past.trace.namespaceId), work)
  const documents = newPastDocuments(services, past)
  const order = await inTurn(() => pastOrder(services, past, documents, { limit: undefined, after: undefined }))
  const shape = new ShapeSoFar()
  for (let start = 0; start < order.length; start += WINDOW) {
    const ordinals = order.subarray(start, start + WINDOW)
    await inTurn(() => addWindow(services, past, { shape, documents, ordinals }))
  }
  const text = JSON.stringify(shape.shape())
  memo.set(text)
  return text
}
