import type { Usage } from '../../contract/usage.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { BrokenOff, type Chunk, type LongList, type Reader } from '../http/long-list.ts'
import { int4s } from '../../eventstore/postgres/arrays.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import { factsColumns, factsOfMessage, factsOfRow, type FactsRow } from '../trace/messages/message-facts.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import type { Moment } from '../trace/moment.ts'
import { checkRight } from '../trace/right-to-read.ts'
import { type MessageFacts, ShapeSoFar } from '../trace/shape.ts'
import { stateText, type TraceTimes } from '../trace/views.ts'
import { usageTexts } from '../usage/sums.ts'
import type { PresentTraceRow } from './locate.ts'
import { newPastDocuments, type PastDocument, type PastDocuments } from './past-documents.ts'
import { orderSize, pastMessages, type PastMessagesOptions } from './past-messages.ts'
import { ofThen, pastKeys, pastOrder, snapshot, snapshotOf } from './past-order.ts'
import { clientsOf, type PastTrace, pastTrace, revisionAt } from './past.ts'
import { newPastUsage, type PastNumbers, type PastUsage, type PastUse } from './past-usage.ts'
import type { HistoryServices } from './services.ts'

/** How many messages' facts are read at once; those of one message have at most 150,000 characters. */
const WINDOW = 200

type FoundRow = {
  ordinal: number
  is_unchanged: boolean
  usage: string | null
  model: string | null
  prices: bigint | null
} & FactsRow

const factsStatement = `
  select m.ordinal, m.revision <= $4 as is_unchanged, m.usage, m.model, m.prices, ${factsColumns}
  from unnest($3::int4[]) with ordinality k (ordinal, nth) cross join lateral (
    select * from messages r where r.trace_id = $1 and r.incarnation = $2 and r.ordinal = k.ordinal limit 1
  ) m order by k.nth`

/** What the numbers of a session are made of. */
type Known = { readonly facts: MessageFacts; readonly use: PastUse }

const useOfRow = ({ usage, model, prices }: FoundRow): PastUse => ({
  usage: usage === null ? undefined : (JSON.parse(usage) as Usage),
  model: model === null ? undefined : (JSON.parse(model) as string),
  position: prices ?? 0n,
})

const positionStatement = 'select position from price_changes where append_id = $1 order by position desc limit 1'

const useOfDocument = async ({ reads }: HistoryServices, { document, used = 0n }: PastDocument): Promise<PastUse> => {
  const { usage, model } = document
  if (typeof used === 'bigint') return { usage, model, position: used }
  const [row] = await reads.rows<{ position: bigint } & Row>('past-prices', positionStatement, [used])
  return { usage, model, position: row?.position ?? 0n }
}

/** What was known of messages that have changed since, from their events. */
const knownOfChanged = async (services: HistoryServices, documents: PastDocuments, changed: readonly number[]) => {
  const known = new Map<number, Known>()
  for (let start = 0; start < changed.length;) {
    const { found, read } = await documents.documents(changed.slice(start))
    for (const [ordinal, one] of found[0]!)
      known.set(ordinal, { facts: factsOfMessage(one.document), use: await useOfDocument(services, one) })
    start += read
  }
  return known
}

/** The numbers of a session that are being made. */
type Numbers = { readonly shape: ShapeSoFar; readonly usage: PastUsage; readonly documents: PastDocuments }

const addWindow = async (
  services: HistoryServices,
  past: PastTrace,
  { shape, usage, documents }: Numbers,
  ordinals: Int32Array,
): Promise<void> => {
  const values = [past.id, past.incarnation, int4s([...ordinals]), past.revision]
  const rows = await services.reads.rows<FoundRow & Row>('past-facts', factsStatement, values)
  if (rows.length < ordinals.length) throw new BrokenOff('the trace was deleted meanwhile')
  const changed = rows.flatMap(({ ordinal, is_unchanged }) => (is_unchanged ? [] : [ordinal]))
  const before = await knownOfChanged(services, documents, changed)
  for (const row of rows) {
    const { facts, use } = before.get(row.ordinal) ?? { facts: factsOfRow(row), use: useOfRow(row) }
    shape.add(facts)
    usage.add(row.ordinal, use)
  }
}

/**
 * The shape of the session at that moment, and what its messages had used; undefined if the trace had no messages.
 * @throws BrokenOff if the trace is deleted meanwhile
 */
const pastNumbers = async (services: HistoryServices, past: PastTrace): Promise<PastNumbers | undefined> => {
  if (past.messageCount === 0) return undefined
  const memo = services.memo.of(past).numbers
  const known = memo.get()
  if (known) return known
  const inTurn = <T>(work: () => Promise<T>) => services.longLists.turn(clientsOf(past.trace.namespaceId), work)
  const documents = newPastDocuments(services, past)
  const order = await inTurn(() => pastOrder(services, past, documents, { limit: undefined, after: undefined }))
  const numbers = { shape: new ShapeSoFar(), usage: newPastUsage(), documents }
  for (let start = 0; start < order.length; start += WINDOW) {
    const ordinals = order.subarray(start, start + WINDOW)
    await inTurn(() => addWindow(services, past, numbers, ordinals))
  }
  const made = { shape: JSON.stringify(numbers.shape.shape()), used: JSON.stringify(numbers.usage.groups()) }
  memo.set(made)
  return made
}

type TimesRow = { revision: bigint; position: bigint; started_at: number | null; ended_at: number | null }

const extreme = (order: 'asc' | 'desc') => `(
  select m.timestamp from messages m where ${ofThen} and m.timestamp is not null order by m.timestamp ${order} limit 1)`

const timesStatement = snapshot(
  'l.started_at, l.ended_at',
  `select ${extreme('asc')} as started_at, ${extreme('desc')} as ended_at`,
)

const timesIn = (timestamps: Float64Array): TraceTimes => {
  let [startedAt, endedAt] = [Infinity, -Infinity]
  for (const timestamp of timestamps) {
    if (timestamp === Infinity) continue // a message without a timestamp
    startedAt = Math.min(startedAt, timestamp)
    endedAt = Math.max(endedAt, timestamp)
  }
  return startedAt === Infinity ? {} : { startedAt, endedAt }
}

/** The first and the last timestamp of the messages that a trace had then. @throws BrokenOff if the trace is deleted meanwhile */
const pastTimes = async (services: HistoryServices, past: PastTrace): Promise<TraceTimes> => {
  if (past.messageCount === 0) return {}
  const memo = services.memo.of(past).times
  const known = memo.get()
  if (known) return known
  const { row, moved } = await snapshotOf<TimesRow>(services, past, {
    name: 'past-times',
    text: timesStatement,
    values: [],
  })
  if (moved.length === 0) return { startedAt: row.started_at ?? undefined, endedAt: row.ended_at ?? undefined }
  const work = () => pastKeys(services, past, newPastDocuments(services, past))
  const { timestamps } = await services.longLists.turn(clientsOf(past.trace.namespaceId), work)
  const times = timesIn(timestamps)
  memo.set(times)
  return times
}

/** A trace with its messages as they were, for routes that show them in any form. */
export type Past = PastTrace & {
  /** About how many characters a chunk has, together with the memory for the order of the list. */
  readonly chunkSize: number
  /** A TraceDetail as JSON text. @throws 404 if the trace is deleted meanwhile */
  detail(): Promise<string>
  /** The messages in their order at that time, chunk by chunk. The chunks throw BrokenOff if the trace is deleted meanwhile. */
  messages(options: PastMessagesOptions): AsyncGenerator<Chunk<MessageListRow>, void>
}

const detailOf = async (services: HistoryServices, past: PastTrace): Promise<string> => {
  try {
    const [times, numbers, models] = await Promise.all([
      pastTimes(services, past),
      pastNumbers(services, past),
      services.models.known(),
    ])
    const { model } = past.trace.fields
    const used = numbers && usageTexts(numbers.used, model === undefined ? null : JSON.stringify(model), models)
    return stateText(past.id, past.slug, past.trace, { ...times, shape: numbers?.shape, ...used })
  } catch (error) {
    throw error instanceof BrokenOff ? notFound() : error
  }
}

/**
 * A trace that `traceWithTimeline` has found, as it was at a moment.
 * @throws 404 before the creation and beyond the last revision
 */
export const openPast = async (services: HistoryServices, present: PresentTraceRow, moment: Moment): Promise<Past> => {
  const past = await pastTrace(services, present, await revisionAt(services, present, moment))
  const chunkSize = CHUNK_SIZE + orderSize(past)
  return {
    ...past,
    chunkSize,
    detail: () => detailOf(services, past),
    messages: (options) => pastMessages(services, past, options),
  }
}

/** Options of a list of the past (`server/http/long-lists.ts`), which ends if its reader is no longer a member, or the trace is gone. */
export const listOfHistory = (
  { reads }: Pick<HistoryServices, 'reads'>,
  trace: PresentTraceRow,
  caller: Caller | undefined,
): Pick<LongList<unknown>, 'reader' | 'check' | 'chunkSize'> => {
  const reader: Reader = { caller, namespaceId: trace.namespace_id, traceId: trace.id, isMember: true }
  return { reader, check: () => checkRight(reads, reader, trace.incarnation), chunkSize: CHUNK_SIZE }
}
