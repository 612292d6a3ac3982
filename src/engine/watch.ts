import type { EventLog } from '../log/log.ts'
import type { Codec } from './codec.ts'
import type { Horizon } from './horizon.ts'
import type { Happened } from './projection.ts'
import { happened } from './runner.ts'

/** Follows the log for this node's caches; each event is seen here before its write is answered. */
export type Watch = {
  /** Whether the log has been heard of within the last second: caches may be trusted. */
  isAlive(): boolean
  /** How long the read models have been behind what was seen here, in milliseconds. */
  lagMs(): number
  close(): Promise<void>
}

export type WatchOptions = {
  readonly log: EventLog
  readonly codec: Codec
  /** The position that this node's caches have come to. */
  readonly horizon: Horizon
  readonly models: Horizon
  readonly observe: (event: Happened) => void
  /** Called when an event cannot be read, which a newer node may have written: nothing cached may be kept. */
  readonly forget: () => void
}

const SILENCE_MS = 1_000

export const startWatch = async ({ log, codec, horizon, models, observe, forget }: WatchOptions): Promise<Watch> => {
  const stop = new AbortController()
  const start = await log.head()
  let heard = performance.now()
  let behindSince: number | undefined

  const run = async () => {
    horizon.advance(start)
    for await (const { events, through } of log.follow({ after: start, signal: stop.signal })) {
      for (const event of events) {
        try {
          observe(happened(codec, event))
        } catch {
          forget()
        }
      }
      horizon.advance(through)
      heard = performance.now()
      lagMs()
    }
  }

  const lagMs = () => {
    if (models.position() >= horizon.position()) behindSince = undefined
    else behindSince ??= performance.now()
    return behindSince === undefined ? 0 : performance.now() - behindSince
  }

  const running = run()
  const close = async () => {
    stop.abort()
    await running
  }

  return { isAlive: () => performance.now() - heard < SILENCE_MS, lagMs, close }
}
