import type { EventLog, RecordedEvent } from '../log/log.ts'
import { pause } from '../../base/waits.ts'
import type { Codec } from './codec.ts'
import { decodeLazily } from './decode-event.ts'
import type { Lag } from './lag.ts'
import type { OutageLog } from './outage.ts'
import type { DecodedEvent } from './projection.ts'
import type { Watermark } from './watermark.ts'

/** Updates this node's caches from the log. A write is answered only after the caches have observed its events. */
type CacheSubscription = {
  /** Whether the caches have observed everything that was in the log within the last second, so that they may be used. */
  isCurrent(): boolean
  /** Whether the log's head is known. Before that nothing is written, and no cache may be used. */
  hasStarted(): boolean
  /** Resolves when the log's head is known for the first time. */
  readonly started: Promise<void>
  close(): Promise<void>
}

type CacheSubscriptionOptions = {
  readonly log: EventLog
  readonly codec: Codec
  /** The last position that the caches have observed; moved here. */
  readonly watermark: Watermark
  /** The position of the read models. */
  readonly readModelsWatermark: Pick<Watermark, 'position'>
  /** The lags of all groups, measured with every batch. */
  readonly lags: readonly Lag[]
  readonly outage: OutageLog
  readonly observe: (event: DecodedEvent) => void
  /** Event types of which only the last event is observed if several follow each other in a stream, because all of them change the same topics. */
  readonly repeated?: ReadonlySet<string>
  /**
   * Empties the caches: called with the log's head at every start, and with the position of an event that cannot be read, for
   * example one that a newer version has written.
   */
  readonly clear: (position: bigint) => void
}

/** The name of this part of the process in log lines about outages. */
const PART = 'caches'
/** How long caches may be used after they were last known to be at the log's head. */
const SILENCE_MS = 1_000
/** How long to wait between two questions for the log's head. */
const HEARTBEAT_MS = 200
const RETRY_MS = 200

/** Subscribes to the log from its head on, as soon as it can be reached: the service starts without it. */
export const subscribeCaches = (options: CacheSubscriptionOptions): CacheSubscription => {
  const { log, codec, watermark, readModelsWatermark, lags, outage, observe, clear, repeated = new Set() } = options
  const stop = new AbortController()
  let start: bigint | undefined // the log's head at the start of the subscription
  let confirmed = Number.NEGATIVE_INFINITY // the last time at which the caches were known to be at the head

  const pass = (event: RecordedEvent) => {
    try {
      observe(decodeLazily(codec, event))
    } catch {
      clear(event.position)
    }
  }

  const isRepeated = ({ stream, type }: RecordedEvent, next: RecordedEvent | undefined) =>
    next?.stream === stream && next.type === type && repeated.has(type)

  const { promise: started, resolve: resolveStarted } = Promise.withResolvers<void>()
  const begin = async (): Promise<bigint> => {
    const head = await log.head()
    clear(head) // values that were cached meanwhile may have missed events
    confirmed = performance.now()
    watermark.advance(head)
    for (const lag of lags) lag.reset()
    resolveStarted()
    return head
  }

  const follow = async () => {
    start ??= await begin()
    for await (const { events, through } of log.follow({ after: watermark.position(), signal: stop.signal })) {
      for (const [i, event] of events.entries()) if (!isRepeated(event, events[i + 1])) pass(event)
      watermark.advance(through)
      for (const lag of lags) lag.ms()
    }
  }

  /** `follow` fails if the parts of a large append cannot be put together: then it resumes from the watermark. */
  const run = async () => {
    while (!stop.signal.aborted) await follow().catch(() => pause(RETRY_MS, stop.signal))
  }

  /** Asks for the log's head, because a log that sends nothing may be idle or unreachable. */
  const checkHead = async () => {
    while (!stop.signal.aborted) {
      const asked = performance.now()
      const head = await log.head().catch((error: unknown) => void outage.failed(PART, error))
      if (head !== undefined) outage.recovered(PART)
      const isReached =
        head !== undefined &&
        (await watermark.waitFor(head, SILENCE_MS).then(
          () => true,
          () => false,
        ))
      if (isReached) confirmed = asked
      await pause(HEARTBEAT_MS, stop.signal)
    }
  }

  const running = Promise.all([run(), checkHead()])
  const close = async () => {
    stop.abort()
    await running
  }

  // Read models behind `start` may show rows that events before `start` have changed: the caches never saw these events.
  const isCurrent = () =>
    start !== undefined && readModelsWatermark.position() >= start && performance.now() - confirmed < SILENCE_MS

  return { isCurrent, hasStarted: () => start !== undefined, started, close }
}
