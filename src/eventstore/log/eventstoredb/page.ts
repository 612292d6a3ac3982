import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client'
import type { ReadResponse, LazyEvent, StoredEvent } from './read-response.ts'

export type Page = {
  readonly events: readonly StoredEvent[]
  /** How many events were read, including those that `wanted` left out. */
  readonly seen: number
  /** The position of the last event that was read; undefined if there was none. */
  readonly through: bigint | undefined
  /** Whether the read has reached the end. */
  readonly isLast: boolean
}

export type PageOptions = {
  /** How many events the server is asked for. */
  readonly count: number
  /** How long the server may be silent before the read fails, in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Which events to take, by the full names of their streams and their positions. Default: all. */
  readonly wanted?: (stream: string, position: bigint) => boolean
  /** The page ends after this many events if `wanted` has left out most of them. Default: never. */
  readonly sample?: number
}

/** A stream of responses, as the client's reads return it. */
type Source = ReturnType<EventStoreDBClient['readAll']> | ReturnType<EventStoreDBClient['readStream']>

const PAGE_BYTES = 4 * 1024 * 1024

/**
 * An option for reads: passes on the result of `parseReadResponse`. The client's reads are `Transform` streams and accept its
 * options, although their types do not say so.
 */
export const passThrough = {
  transform: (sent: ReadResponse, _encoding: string, next: (error: null, sent: ReadResponse) => void) =>
    next(null, sent),
} as object

/** Collects events up to 4 MiB or `maxEvents`. */
export const newPageCollector = (maxEvents: number) => {
  const events: StoredEvent[] = []
  let bytes = 0
  /** Adds an event. Returns false if the page is full now. */
  const take = (event: LazyEvent): boolean => {
    events.push(event.stored())
    bytes += event.bytes
    return bytes < PAGE_BYTES && events.length < maxEvents
  }
  return { events, take }
}

/** Reads to the end, up to 4 MiB, or until most events of a sample are unwanted. */
export const readPage = async (source: Source, options: PageOptions): Promise<Page> => {
  const { count, wanted, sample = Number.POSITIVE_INFINITY } = options
  const { events, take } = newPageCollector(Number.POSITIVE_INFINITY)
  let through: bigint | undefined
  let seen = 0
  const isComplete = await consume(source, options, ({ event }) => {
    if (!event) return true // the stream is missing
    seen += 1
    through = event.position
    const isWanted = wanted?.(event.stream, event.position) ?? true
    if (isWanted) return take(event)
    return seen < sample || events.length * 2 >= seen
  })
  return { events, seen, through, isLast: isComplete && seen < count }
}

type ConsumeOptions = Pick<PageOptions, 'timeoutMs' | 'signal'>

/**
 * Passes responses to `take` until it returns false or the source ends. Returns whether the source has ended. Otherwise it is
 * cancelled, because it would occupy one of the connection's 100 streams.
 * @throws the source's error, or an error after `timeoutMs` of silence or when the signal aborts
 */
export const consume = (
  source: Source | AllStreamSubscription,
  { timeoutMs, signal }: ConsumeOptions,
  take: (response: ReadResponse) => boolean,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    let settled = false
    const finish = (settle: () => void, hasEnded: boolean) => {
      if (settled) return
      settled = true
      clearTimeout(silence)
      signal?.removeEventListener('abort', abort)
      if (!hasEnded) cancel(source)
      settle()
    }
    const fail = (message: string) => finish(() => reject(new Error(message)), false)
    const abort = () => fail('the read was aborted')
    const silence = setTimeout(() => fail('the log did not answer in time'), timeoutMs)
    signal?.addEventListener('abort', abort)
    // Never removed: an `error` event without a listener would end the process, and may come after the end.
    source.on('error', (error: Error) => finish(() => reject(error), true))
    source.on('end', () => finish(() => resolve(true), true))
    source.on('data', (response) => {
      if (settled) return
      silence.refresh()
      if (!take(response as unknown as ReadResponse)) finish(() => resolve(false), false)
    })
    if (signal?.aborted) abort()
  })

const cancel = (source: Source | AllStreamSubscription) =>
  void ('cancel' in source ? source.cancel() : source.unsubscribe()).catch(() => {})
