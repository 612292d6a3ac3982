import { type EventLog, LogChanged, type RecordedEvent } from '../log/log.ts'
import { pause } from '../base/waits.ts'
import type { Codec } from './codec.ts'
import { decodeLazily } from './decode-event.ts'
import type { Lag } from './lag.ts'
import type { OutageLog } from './outage.ts'
import type { DecodedEvent } from './projection.ts'
import type { Watermark } from './watermark.ts'

/** Feeds this node's caches from the log. A write is answered only after the caches have observed its events. */
export type CacheSubscription = {
  /** Whether the caches have observed all that was in the log within the last second, and so may be trusted. */
  isCurrent(): boolean
  /** Whether the log's head is known. Before that nothing is written, and no cache may be trusted. */
  hasStarted(): boolean
  /** Resolves when it has started for the first time. */
  readonly started: Promise<void>
  close(): Promise<void>
}

export type CacheSubscriptionOptions = {
  readonly log: EventLog
  readonly codec: Codec
  /** Moved here: the last position that the caches have observed. */
  readonly watermark: Watermark
  /** That of the read models. */
  readonly readModelsWatermark: Pick<Watermark, 'position'>
  /** The lags of all groups, which are measured with every batch. */
  readonly lags: readonly Lag[]
  readonly outage: OutageLog
  readonly observe: (event: DecodedEvent) => void
  /**
   * Empties the caches: called with the log's head at every start, and with the position of an event that cannot be read,
   * which a newer version may have written.
   */
  readonly clear: (position: bigint) => void
}

const PART = 'caches'
const SILENCE_MS = 1_000
const HEARTBEAT_MS = 200
const RETRY_MS = 200

/** Subscribes from the log's head on, as soon as the log can be reached: a service starts without its log, too. */
export const subscribeCaches = (options: CacheSubscriptionOptions): CacheSubscription => {
  const { log, codec, watermark, readModelsWatermark, lags, outage, observe, clear } = options
  const stop = new AbortController()
  let start: bigint | undefined // the head at the start in the present epoch of the log
  let confirmed = Number.NEGATIVE_INFINITY // the last time at which the caches were known to be at the head
  let changes = 0 // of the log's epoch

  const pass = (event: RecordedEvent) => {
    try {
      observe(decodeLazily(codec, event))
    } catch {
      clear(event.position)
    }
  }

  const { promise: started, resolve: resolveStarted } = Promise.withResolvers<void>()
  const begin = async (): Promise<bigint> => {
    const before = changes
    const head = await log.head()
    if (before !== changes) throw new LogChanged()
    clear(head) // what was cached meanwhile may have missed events
    confirmed = performance.now()
    watermark.advance(head)
    for (const lag of lags) lag.reset()
    resolveStarted()
    return head
  }

  const follow = async () => {
    start ??= await begin()
    for await (const { events, through } of log.follow({ after: watermark.position(), signal: stop.signal })) {
      for (const event of events) pass(event)
      watermark.advance(through)
      for (const lag of lags) lag.ms()
    }
  }

  /** Putting the parts of a large append together may fail: following then resumes from the watermark. */
  const run = async () => {
    while (!stop.signal.aborted) await follow().catch(() => pause(RETRY_MS, stop.signal))
  }

  /** Asks for the log's head, because a log from which nothing comes may be idle or away. */
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

  // In another epoch positions belong to other events, and events that were observed may have been lost.
  log.onChange(() => {
    changes += 1
    start = undefined
    confirmed = Number.NEGATIVE_INFINITY
    watermark.restart()
    clear(0n)
  })

  const running = Promise.all([run(), checkHead()])
  const close = async () => {
    stop.abort()
    await running
  }

  // Read models below `start` may give rows that events before the start have changed since: no cache saw those events.
  const isCurrent = () =>
    start !== undefined && readModelsWatermark.position() >= start && performance.now() - confirmed < SILENCE_MS

  return { isCurrent, hasStarted: () => start !== undefined, started, close }
}
