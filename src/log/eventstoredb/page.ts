import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client'
import type { Sent, SentEvent, Stored } from './read-response.ts'

export type Page = {
  readonly events: readonly Stored[]
  /** How many events were read, with those that were left out. */
  readonly seen: number
  /** The position of the last event, also of one that was left out. */
  readonly through: bigint | undefined
  /** There was no more. */
  readonly isLast: boolean
}

export type PageOptions = {
  readonly count: number
  /** How long the server may be silent. */
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
  /** Which events to keep, by the full names of their streams and their positions. */
  readonly wanted?: (stream: string, position: bigint) => boolean
  /** After so many events a page ends that leaves out most of them. */
  readonly sample?: number
}

/** A read of the client. */
export type Source = ReturnType<EventStoreDBClient['readAll']> | ReturnType<EventStoreDBClient['readStream']>

const PAGE_BYTES = 4 * 1024 * 1024

/** For a read: hands on what the server sent. It is a Transform, which takes this option, though its types do not say so. */
export const asSent = {
  transform: (sent: Sent, _encoding: string, next: (error: null, sent: Sent) => void) => next(null, sent),
} as object

/** Takes the events of a page, as many as fit. */
export const newTaker = (maxEvents: number) => {
  const events: Stored[] = []
  let bytes = 0
  /** False when the page is full. */
  const take = (event: SentEvent): boolean => {
    events.push(event.stored())
    bytes += event.bytes
    return bytes < PAGE_BYTES && events.length < maxEvents
  }
  return { events, take }
}

/** Reads to the end, to 4 MiB, or until most of a sample was left out. */
export const readPage = async (source: Source, options: PageOptions): Promise<Page> => {
  const { count, wanted, sample = Number.POSITIVE_INFINITY } = options
  const { events, take } = newTaker(Number.POSITIVE_INFINITY)
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

export type ConsumeOptions = Pick<PageOptions, 'patienceMs' | 'signal'>

/**
 * Takes what comes until the end, or until `take` says that it is enough; says whether it was the end. Whatever is left
 * early is cancelled: it would hold one of the connection's streams.
 */
export const consume = (
  source: Source | AllStreamSubscription,
  { patienceMs, signal }: ConsumeOptions,
  take: (sent: Sent) => boolean,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    let settled = false
    const finish = (outcome: () => void, isOver: boolean) => {
      if (settled) return
      settled = true
      clearTimeout(silence)
      signal?.removeEventListener('abort', abort)
      if (!isOver) cancel(source)
      outcome()
    }
    const fail = (message: string) => finish(() => reject(new Error(message)), false)
    const abort = () => fail('the read was aborted')
    const silence = setTimeout(() => fail('the log did not answer in time'), patienceMs)
    signal?.addEventListener('abort', abort)
    // The listener stays: an error that comes after the end, with nobody to hear it, would end the process.
    source.on('error', (error: Error) => finish(() => reject(error), true))
    source.on('end', () => finish(() => resolve(true), true))
    source.on('data', (sent) => {
      if (settled) return
      silence.refresh()
      if (!take(sent as unknown as Sent)) finish(() => resolve(false), false)
    })
    if (signal?.aborted) abort()
  })

const cancel = (source: Source | AllStreamSubscription) =>
  void ('cancel' in source ? source.cancel() : source.unsubscribe()).catch(() => {})
