import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { NewEvent } from '../log.ts'

/** An event as the server has it; `stream` is the full name. */
export type Stored = NewEvent & { readonly stream: string; readonly revision: bigint; readonly position: bigint }

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
}

/** A read of the client. */
export type Source = ReturnType<EventStoreDBClient['readAll']> | ReturnType<EventStoreDBClient['readStream']>

const PAGE_BYTES = 4 * 1024 * 1024

/**
 * For a read: hands on what the server sent. The client itself parses metadata and so loses its very text. It is a
 * Transform, which takes this option, though its types do not say so.
 */
export const asSent = {
  transform: (response: ReadResp, _encoding: string, next: (error: null, response: ReadResp) => void) =>
    next(null, response),
} as object

const text = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

type Sent = NonNullable<ReturnType<NonNullable<ReturnType<ReadResp['getEvent']>>['getEvent']>>

const stored = (event: Sent, stream: string, position: bigint): Stored => ({
  stream,
  revision: BigInt(event.getStreamRevision()),
  position,
  id: event.getId()!.getString(),
  type: event.getMetadataMap().get('type') ?? '',
  data: text(event.getData_asU8()),
  metadata: text(event.getCustomMetadata_asU8()),
})

/** What a response holds, when it is an event. Linked events do not come: links are not resolved. */
export const sentEvent = (response: ReadResp): Sent | undefined => response.getEvent()?.getEvent()

/** The full name of an event's stream, and its position. */
export const placeOf = (event: Sent) => ({
  stream: text(event.getStreamIdentifier()!.getStreamName_asU8()),
  position: BigInt(event.getCommitPosition()),
})

/** Takes the events of a page, as many as fit. */
export const newTaker = (maxEvents: number) => {
  const events: Stored[] = []
  let bytes = 0
  /** False when the page is full. */
  const take = (event: Sent, { stream, position }: ReturnType<typeof placeOf>): boolean => {
    events.push(stored(event, stream, position))
    bytes += event.getData_asU8().length + event.getCustomMetadata_asU8().length
    return bytes < PAGE_BYTES && events.length < maxEvents
  }
  return { events, take }
}

/** Reads to the end, or to 4 MiB. */
export const readPage = async (source: Source, options: PageOptions): Promise<Page> => {
  const { count, wanted } = options
  const { events, take } = newTaker(Number.POSITIVE_INFINITY)
  let through: bigint | undefined
  let seen = 0
  const isComplete = await consume(source, options, (response) => {
    const event = sentEvent(response)
    if (!event) return true // the stream is missing
    const place = placeOf(event)
    seen += 1
    through = place.position
    return (wanted?.(place.stream, place.position) ?? true) ? take(event, place) : true
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
  take: (response: ReadResp) => boolean,
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
    source.on('data', (response) => {
      if (settled) return
      silence.refresh()
      if (!take(response as unknown as ReadResp)) finish(() => resolve(false), false)
    })
    if (signal?.aborted) abort()
  })

const cancel = (source: Source | AllStreamSubscription) =>
  void ('cancel' in source ? source.cancel() : source.unsubscribe()).catch(() => {})
