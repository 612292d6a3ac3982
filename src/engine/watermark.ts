import { Unavailable } from './rejected.ts'

/** How far the read models of this node have come: writes wait here until what they wrote can be read. */
export type Watermark = {
  position(): bigint
  /** Notes that the read models, and this node's caches, have passed a position. Never moves backwards. */
  advance(position: bigint): void
  /** Sets how far they are: after a crash of Postgres the last transactions may be gone. May go back, or forward. */
  reset(position: bigint): void
  /** The log is in another epoch: waiters learn that their writes may be lost, and positions begin anew. */
  restart(): void
  /** Resolves once a position has been passed. @throws Unavailable after `timeoutMs` */
  waitFor(position: bigint, timeoutMs: number, stored?: boolean): Promise<void>
  /** Whether anybody waits, so that a poller knows when to look often. */
  hasWaiters(): boolean
  /** Calls back whenever somebody begins to wait. */
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
    const later: Waiter[] = []
    for (const waiter of waiters) {
      if (waiter.position <= position) waiter.resolve()
      else later.push(waiter)
    }
    waiters = later
  }

  const advance = (position: bigint) => {
    if (position > reached) reset(position)
  }

  const waitFor = (position: bigint, timeoutMs: number, stored = true) => {
    if (position <= reached) return Promise.resolve()
    return new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters = waiters.filter((other) => other !== waiter)
        reject(new Unavailable('the read models are behind', stored))
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
    const lost = waiters
    waiters = []
    reached = 0n
    for (const waiter of lost) waiter.reject(new Unavailable('the log has lost its end', 'unknown'))
  }

  const onWait = (listener: () => void) => {
    callback = listener
  }

  return { position: () => reached, advance, reset, restart, waitFor, hasWaiters: () => waiters.length > 0, onWait }
}
