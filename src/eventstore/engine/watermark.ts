import { Unavailable } from './rejected.ts'

/** A position of the log that read models or caches of this node have reached, and that others can wait for. */
export type Watermark = {
  position(): bigint
  /** Moves the watermark forward; a smaller position changes nothing. */
  advance(position: bigint): void
  /** Sets the watermark, also to a smaller position: a crash of PostgreSQL may undo the last transactions of the read models. */
  reset(position: bigint): void
  /** Rejects all waits, present and later ones, because in another epoch of the log their events may be lost. */
  end(): void
  /**
   * Resolves once the watermark has reached a position.
   * @throws Unavailable after `timeoutMs`, with this `stored` (default true), or at the end with `stored: 'unknown'`
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
  let isOver = false

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

  const lost = () => new Unavailable('the log has lost its end', 'unknown')

  const waitFor = (position: bigint, timeoutMs: number, stored = true) => {
    if (isOver) return Promise.reject(lost())
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

  const end = () => {
    isOver = true
    const rejected = waiters
    waiters = []
    for (const waiter of rejected) waiter.reject(lost())
  }

  const onWait = (listener: () => void) => {
    callback = listener
  }

  return { position: () => reached, advance, reset, end, waitFor, hasWaiters: () => waiters.length > 0, onWait }
}
