import { BACKWARDS, END, type EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client'
import type { Position, ReadOptions, RecordedEvent } from '../log.ts'
import type { Address } from './address.ts'
import type { Ask } from './asker.ts'
import { isNoRecord } from './errors.ts'
import { type Page, type PageOptions, type Stored, asSent, readPage } from './page.ts'
import { METADATA, masked, metadataStream, parseMetadata, truncationPoint } from './truncation-point.ts'

const FIRST_PAGE = 64
const PAGE_EVENTS = 1_000
const LAST_REVISION = 2n ** 63n - 1n

export type Batch = { readonly events: readonly RecordedEvent[]; readonly through: Position; readonly isLast: boolean }

export type Reader = {
  /** Up to a page of the whole log behind a position; `through` also passes what is not ours. */
  page(after: Position, signal?: AbortSignal, count?: number): Promise<Batch>
  readAll(options: { readonly after: Position; readonly limit?: number }): AsyncIterable<RecordedEvent>
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>
  /** The last event of a stream by its full name. */
  last(stream: string): Promise<RecordedEvent | undefined>
  /** Whether all of a stream up to a revision can be read, or is gone for good. `stream` is the full name. */
  sees(stream: string, revision: bigint): Promise<boolean>
  /** What stands at a position, or else the next behind it; nothing beyond the end. Of any stream, by its full name. */
  at(position: Position): Promise<Stored | 'not a record' | undefined>
  head(): Promise<Position>
}

export type ReaderOptions = { readonly ask: Ask; readonly address: Address; readonly patienceMs: number }

/**
 * Reads pages to their end: nothing stays open between them, so a reader may take its time, or stop. Each goes to the
 * leader: another node may not have what has just been written.
 */
export const newReader = ({ ask, address, patienceMs }: ReaderOptions): Reader => {
  const { credentials, prefix } = address
  const common = { credentials, requiresLeader: true }

  type AllOptions = Omit<PageOptions, 'patienceMs'>

  const onePage = (client: EventStoreDBClient, options: AllOptions, from: Position | 'end') => {
    const fromPosition = from === 'end' ? END : from > 0n ? { commit: from, prepare: from } : START
    const direction = from === 'end' ? BACKWARDS : FORWARDS
    const source = client.readAll({ ...common, fromPosition, direction, maxCount: options.count }, asSent)
    return readPage(source, { ...options, patienceMs })
  }

  const allPage = (options: AllOptions, from: Position | 'end') =>
    ask((client) => onePage(client, options, from), options.signal)

  const streamPage = (stream: string, from: bigint | 'end', backwards: boolean, count: number) =>
    ask((client) => {
      const fromRevision = from === 'end' ? END : from
      const direction = backwards ? BACKWARDS : FORWARDS
      const source = client.readStream(stream, { ...common, fromRevision, direction, maxCount: count }, asSent)
      return readPage(source, { count, patienceMs })
    })

  const last = async (stream: string) => (await streamPage(stream, 'end', true, 1)).events[0]

  const sees = async (stream: string, revision: bigint) => {
    const end = await last(stream)
    if (end) return end.revision >= revision
    // The last event stays in a stream, unless the stream was deleted by hand: that is written as a truncation.
    const metadata = await last(metadataStream(stream))
    return metadata !== undefined && truncationPoint(parseMetadata(metadata.data)) > revision
  }

  /**
   * What is truncated stays in the log until the scavenge. Streams are truncated behind their events: whoever has read
   * to the end has seen each truncation; for a page before that the streams are asked.
   */
  const maskOf = async ({ events, isLast }: Page) => {
    const points = new Map<string, bigint>()
    for (const event of events)
      if (event.type === METADATA && event.stream.startsWith('$$'))
        points.set(event.stream.slice(2), truncationPoint(parseMetadata(event.data)))
    if (isLast) return points
    const streams = new Set(events.map(({ stream }) => stream).filter((stream) => stream.startsWith(prefix)))
    const ask = async (stream: string) => {
      const metadata = await last(metadataStream(stream))
      if (metadata) points.set(stream, truncationPoint(parseMetadata(metadata.data)))
    }
    await Promise.all([...streams].map(ask))
    return points
  }

  const page = async (after: Position, signal?: AbortSignal, count = PAGE_EVENTS): Promise<Batch> => {
    const wanted = (stream: string, position: bigint) =>
      position > after && (stream.startsWith(prefix) || stream.startsWith(`$$${prefix}`))
    // One more, because the first may be the one at `after` itself.
    const read = await allPage({ count: count + 1, wanted, signal }, after)
    const mask = await maskOf(read)
    const events = read.events
      .filter((event) => event.stream.startsWith(prefix) && !masked(mask, event))
      .map((event) => ({ ...event, stream: event.stream.slice(prefix.length) }))
    return { events, through: read.through ?? after, isLast: read.isLast }
  }

  async function* readAll({ after, limit = Number.POSITIVE_INFINITY }: { after: Position; limit?: number }) {
    let [left, count] = [limit, FIRST_PAGE]
    let next: Promise<Batch> | undefined = left > 0 ? page(after, undefined, count) : undefined
    while (next) {
      const { events, through, isLast } = await next
      const taken = events.slice(0, left)
      left -= taken.length
      count = Math.min(count * 4, PAGE_EVENTS)
      // The next page is fetched while the reader has this one; its error is for whoever gets that far.
      next = isLast || left <= 0 ? undefined : page(through, undefined, count)
      next?.catch(() => {})
      yield* taken
    }
  }

  async function* read(stream: string, options: ReadOptions = {}) {
    const { backwards = false, from = backwards ? LAST_REVISION : 0n, limit = Number.POSITIVE_INFINITY } = options
    let [at, left, count] = [from > LAST_REVISION ? LAST_REVISION : from, limit, FIRST_PAGE]
    while (left > 0 && at >= 0n) {
      const { events, isLast } = await streamPage(prefix + stream, at, backwards, Math.min(count, left))
      for (const event of events) yield { ...event, stream }
      if (isLast || events.length === 0) return
      at = events.at(-1)!.revision + (backwards ? -1n : 1n)
      left -= events.length
      count = Math.min(count * 4, PAGE_EVENTS)
    }
  }

  const at = (position: Position) => {
    let refusals = 0
    return ask(async (client) => {
      try {
        return (await onePage(client, { count: 1 }, position)).events[0]
      } catch (error) {
        // A read that failed for another reason is refused in the same words: only twice is an answer.
        if (!isNoRecord(error) || ++refusals === 1) throw error
        return 'not a record' as const
      }
    })
  }

  const head = async () => (await allPage({ count: 1 }, 'end')).through ?? 0n

  return { page, readAll, read, last, sees, at, head }
}
