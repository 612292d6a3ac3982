import { Unavailable } from '../engine/rejected.ts'
import { REQUEST_WAIT_MS } from '../request-wait.ts'

/** A part of the capacity. Its size can change, also to more than is free, when more is needed than was expected. */
export type Permit = { readonly size: () => number; resize(size: number): void; release(): void }

/** Bounds what all requests use together, such as bytes of memory. Waiting calls are served in order, whoever makes them. */
export type Semaphore = {
  /**
   * Waits until so much is free; more than the capacity counts as all of it.
   * @throws Unavailable after the timeout; what `signal` is aborted with
   */
  acquire(size: number, signal?: AbortSignal): Promise<Permit>
}

export type SemaphoreOptions = {
  readonly capacity: number
  /** Called while calls wait, again and again: permits that it makes others release shorten the wait. */
  readonly onShortage: (missing: number) => void
  /** Default: as long as a request waits. */
  readonly timeoutMs?: number
  /** The message of the error after the timeout. */
  readonly message: string
}

type Waiter = { readonly size: number; readonly admit: (permit: Permit) => void }

const SHORTAGE_INTERVAL_MS = 200

export const newSemaphore = (options: SemaphoreOptions): Semaphore => {
  const { capacity, onShortage, timeoutMs = REQUEST_WAIT_MS, message } = options
  let used = 0
  const waiters = new Set<Waiter>()

  const newPermit = (initialSize: number): Permit => {
    let size = initialSize
    let isHeld = true
    used += initialSize
    const resize = (next: number) => {
      if (!isHeld) return
      used += next - size
      size = next
      admitWaiters()
    }
    const release = () => {
      resize(0)
      isHeld = false
    }
    return { size: () => size, resize, release }
  }

  const admitWaiters = () => {
    for (const waiter of waiters) {
      if (used + waiter.size > capacity) return
      waiters.delete(waiter)
      waiter.admit(newPermit(waiter.size))
    }
  }

  const reportShortage = () => {
    const [next] = waiters
    if (next) onShortage(used + next.size - capacity)
  }

  const acquire = async (wanted: number, signal?: AbortSignal) => {
    const size = Math.min(wanted, capacity)
    if (waiters.size === 0 && used + size <= capacity) return newPermit(size)
    const { promise, resolve: admit, reject } = Promise.withResolvers<Permit>()
    const waiter = { size, admit }
    waiters.add(waiter)
    const giveUp = (error: unknown) => {
      waiters.delete(waiter)
      reject(error)
      admitWaiters()
    }
    const onAbort = () => giveUp(signal!.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const reporting = setInterval(reportShortage, SHORTAGE_INTERVAL_MS)
    const timeout = setTimeout(() => giveUp(new Unavailable(message)), timeoutMs)
    reportShortage()
    try {
      return await promise
    } finally {
      clearInterval(reporting)
      clearTimeout(timeout)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  return { acquire }
}
