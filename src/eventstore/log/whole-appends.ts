import { dataBytes, chunksBefore, endsEvent, fromRecords, opensAppend, toRecords } from './chunks.ts'
import { isComplete, newAppendCollector } from './append-collector.ts'
import {
  type Anchor,
  type Appended,
  type Batch,
  type EventLog,
  type NewEvent,
  type ReadOptions,
  type RecordedEvent,
  type Revision,
  type StoredRecord,
  expectedOf,
  revisionNumber,
} from './log.ts'

/** Splits records into segments, each small enough for one append of the adapter. */
const segmentsOf = (records: readonly NewEvent[], maxBytes: number): NewEvent[][] => {
  const segments: NewEvent[][] = []
  let free = 0
  for (const record of records) {
    const bytes = dataBytes(record)
    if (segments.length === 0 || bytes > free) {
      segments.push([])
      free = maxBytes
    }
    segments.at(-1)!.push(record)
    free -= bytes
  }
  return segments
}

async function* limited<T>(source: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
  let left = limit
  if (left <= 0) return
  for await (const item of source) {
    yield item
    left -= 1
    if (left <= 0) return
  }
}

/** The whole appends whose last record is among these. */
async function* collected(store: EventLog<StoredRecord>, records: AsyncIterable<StoredRecord>) {
  const collect = newAppendCollector(store)
  for await (const record of records) yield* await collect(record)
}

async function* forwards(store: EventLog<StoredRecord>, stream: string, from: Revision) {
  for await (const event of collected(store, store.read(stream, { from }))) if (event.revision >= from) yield event
}

async function* backwards(store: EventLog<StoredRecord>, stream: string, from: Revision | undefined) {
  let isWhole: boolean | undefined // whether the current record's append is; undefined until that is checked
  let chunks: StoredRecord[] = [] // of the current event, the last one first
  for await (const record of store.read(stream, { backwards: true, ...(from === undefined ? {} : { from }) })) {
    isWhole ??= await isComplete(store, record)
    if (endsEvent(record)) chunks = []
    chunks.push(record)
    if (isWhole && chunksBefore(record) === 0) yield* fromRecords(chunks.toReversed())
    if (opensAppend(record)) isWhole = undefined
  }
}

/**
 * Wraps an adapter so that appends may exceed its limit: they are stored in segments, and put together when they are read. Readers see
 * an append once its last record is stored. Records of an append that a crash has left unfinished stay invisible, but the stream's
 * revision counts them.
 */
export const wholeAppends = (store: EventLog<StoredRecord>): EventLog => {
  const max = store.maxAppendBytes

  const append: EventLog['append'] = async (stream, expected, events) => {
    const bytes = events.reduce((sum, event) => sum + dataBytes(event), 0)
    if (bytes <= max) return store.append(stream, expected, events)
    const segments = segmentsOf(
      events.flatMap((event) => toRecords(event, max)),
      max,
    )
    let revision = revisionNumber(expected)
    let answer: Appended | undefined
    for (const segment of segments) {
      answer = await store.append(stream, expectedOf(revision), segment)
      revision += BigInt(segment.length)
    }
    return answer!
  }

  const read = (stream: string, { from, backwards: back, limit }: ReadOptions = {}) =>
    limited(back ? backwards(store, stream, from) : forwards(store, stream, from ?? 0n), limit)

  async function* readRevisions(stream: string, revisions: readonly Revision[]) {
    for await (const record of store.readRevisions(stream, revisions)) {
      const chunks = []
      for (let back = chunksBefore(record); back > 0; back--) chunks.push(record.revision - BigInt(back))
      yield* fromRecords([...(await Array.fromAsync(store.readRevisions(stream, chunks))), record])
    }
  }

  const readAll = ({ after, limit }: { readonly after: bigint; readonly limit?: number }) =>
    limited(collected(store, store.readAll({ after })), limit)

  async function* follow(options: { after: bigint; signal: AbortSignal }): AsyncIterable<Batch> {
    const collect = newAppendCollector(store)
    for await (const { events, through } of store.follow(options)) {
      const whole: RecordedEvent[] = []
      for (const record of events) {
        const closed = collect(record)
        for (const event of closed instanceof Promise ? await closed : closed) whole.push(event)
      }
      yield { events: whole, through }
    }
  }

  /** Keeps all records of the last event, and of the event that ends at or after `before`. */
  const truncate = async (stream: string, before: Revision, held?: Anchor) => {
    for await (const last of read(stream, { backwards: true, limit: 1 })) {
      const from = before < last.revision ? before : last.revision
      for await (const record of store.read(stream, { from, limit: 1 }))
        await store.truncate(stream, record.revision - BigInt(chunksBefore(record)), held)
    }
  }

  return { ...store, append, read, readRevisions, readAll, follow, truncate }
}
