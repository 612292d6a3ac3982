import { setTimeout } from 'node:timers/promises'
import { type EventLog, LogChanged, type RecordedEvent } from '../log/log.ts'
import { decodeLazily } from './apply.ts'
import type { Codec } from './codec.ts'
import type { Watermark } from './watermark.ts'
import type { Lag } from './lag.ts'
import type { OutageLog } from './outage.ts'
import type { DecodedEvent } from './projection.ts'

/** Follows the log for this node's caches; each event is seen here before its write is answered. */
export type CacheSubscription = {
  /** Whether all that the log held within the last second has been seen: caches may be trusted. */
  isCurrent(): boolean
  /** Whether the log has said where it stands: before that nothing is written, and no cache may be trusted. */
  hasBegun(): boolean
  /** Resolves when it has begun for the first time. */
  readonly begun: Promise<void>
  close(): Promise<void>
}

export type CacheSubscriptionOptions = {
  readonly log: EventLog
  readonly codec: Codec
  /** The position that this node's caches have come to. */
  readonly watermark: Watermark
  readonly readModels: Pick<Watermark, 'position'>
  /** What is measured by what is heard here. */
  readonly lags: readonly Lag[]
  readonly outage: OutageLog
  readonly observe: (event: DecodedEvent) => void
  /** Called at the beginning, and when an event cannot be read, which a newer node may have written: nothing cached may be kept. */
  readonly forget: () => void
}

const PART = 'caches'
const SILENCE_MS = 1_000
const HEARTBEAT_MS = 200
const RETRY_MS = 200

/** Begins at the log's end as soon as there is one to be had: a log that is away does not keep a service from starting. */
export const subscribeCaches = ({
  log,
  codec,
  watermark,
  readModels: models,
  lags,
  outage,
  observe,
  forget,
}: CacheSubscriptionOptions): CacheSubscription => {
  const stop = new AbortController()
  let start: bigint | undefined // where it has begun in the present epoch of the log
  let heard = Number.NEGATIVE_INFINITY

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stop.signal }).catch(() => {})

  const see = (event: RecordedEvent) => {
    try {
      observe(decodeLazily(codec, event))
    } catch {
      forget()
    }
  }

  const { promise: begun, resolve: sayBegun } = Promise.withResolvers<void>()
  let changes = 0
  const begin = async (): Promise<bigint> => {
    const since = changes
    const head = await log.head()
    if (since !== changes) throw new LogChanged()
    forget() // what was read meanwhile was not watched
    heard = performance.now()
    watermark.advance(head)
    for (const lag of lags) lag.reset()
    sayBegun()
    return head
  }

  const follow = async () => {
    start ??= await begin()
    for await (const { events, through } of log.follow({ after: watermark.position(), signal: stop.signal })) {
      for (const event of events) see(event)
      watermark.advance(through)
      for (const lag of lags) lag.ms()
    }
  }

  /** The parts of a large append are looked up while following, which can fail: then it goes on from where it was. */
  const run = async () => {
    while (!stop.signal.aborted) await follow().catch(() => pause(RETRY_MS))
  }

  /** A log that is silent may be idle or away: asking for its head tells. */
  const listen = async () => {
    while (!stop.signal.aborted) {
      const since = performance.now()
      const head = await log.head().catch((error: unknown) => void outage.failed(PART, error))
      if (head !== undefined) outage.recovered(PART)
      const seen =
        head !== undefined &&
        (await watermark.waitFor(head, SILENCE_MS).then(
          () => true,
          () => false,
        ))
      if (seen) heard = since
      await pause(HEARTBEAT_MS)
    }
  }

  // Positions mean something else from here on, and what was seen may never have happened.
  log.onChange(() => {
    changes += 1
    start = undefined
    heard = Number.NEGATIVE_INFINITY
    watermark.restart()
    forget()
  })

  const running = Promise.all([run(), listen()])
  const close = async () => {
    stop.abort()
    await running
  }

  /** What the read models had not shown when this began has not been seen here either. */
  const isAlive = () => start !== undefined && models.position() >= start && performance.now() - heard < SILENCE_MS

  return { isCurrent: isAlive, hasBegun: () => start !== undefined, begun, close }
}
