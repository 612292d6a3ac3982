import { Unavailable } from './rejected.ts'

/** A position of the log that read models or caches of this node have reached, and that others can wait for. */
export type Watermark = {
  position(): bigint
  /** Moves the watermark forward; a smaller position changes nothing. */
  advance(position: bigint): void
  /** Sets the watermark, also to a smaller position: a crash of PostgreSQL may undo the last transactions of the read models. */
  reset(position: bigint): void
  /** Starts again at 0 in another epoch of the log, and rejects all waiters, because their events may be lost. */
  restart(): void
  /**
   * Resolves once the watermark has reached a position.
   * @throws Unavailable after `timeoutMs`, with this `stored` (default true), or at a restart with `stored: 'unknown'`
   */
  waitFor(position: bigint, timeoutMs: number, stored?: boolean): Promise<void>
  /** Whether a `waitFor` is pending, so that a poller polls more often. */
  hasWaiters(): boolean
  /** Sets the one function that is called whenever a `waitFor` begins to wait. */
  onWait(callback: () => void): void
}

type Waiter = {
  readonly position: bigint
  readonly resolve: () => void
  readonly reject: (error: Unavailable) => void
}

export const newWatermark = (): Watermark => {
  let reached = 0n
  let waiters: Waiter[] = []
  let callback = () => {}

  const reset = (position: bigint) => {
    reached = position
    const remaining: Waiter[] = []
    for (const waiter of waiters) {
      if (waiter.position <= position) waiter.resolve()
      else remaining.push(waiter)
    }
    waiters = remaining
  }

  const advance = (position: bigint) => {
    if (position > reached) reset(position)
  }

  const waitFor = (position: bigint, timeoutMs: number, stored = true) => {
    if (position <= reached) return Promise.resolve()
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters = waiters.filter((other) => other !== waiter)
        reject(new Unavailable('the read models did not catch up with the log in time', stored))
      }, timeoutMs)
      const waiter: Waiter = {
        position,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
        reject: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      waiters.push(waiter)
      callback()
    })
  }

  const restart = () => {
    const rejected = waiters
    waiters = []
    reached = 0n
    for (const waiter of rejected) waiter.reject(new Unavailable('the log has lost its end', 'unknown'))
  }

  const onWait = (listener: () => void) => {
    callback = listener
  }

  return { position: () => reached, advance, reset, restart, waitFor, hasWaiters: () => waiters.length > 0, onWait }
}
