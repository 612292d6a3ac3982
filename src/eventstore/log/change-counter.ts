/**
 * Counts changes that others can wait for. A follower takes the count before it reads, and then waits for a change since that
 * count, so that it misses no change during the read.
 */
type ChangeCounter = {
  count(): number
  /** Counts a possible change, and wakes all waiters. */
  increment(): void
  /** Whether there are waiters. */
  isAwaited(): boolean
  /** Waits until the count is not `since` any more, at most `timeoutMs` or until abort. Returns whether it has changed. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
}

export const newChangeCounter = (): ChangeCounter => {
  const waiting = new Set<() => void>()
  let count = 0

  const increment = () => {
    count += 1
    for (const resolve of [...waiting]) resolve()
  }

  const changed = (since: number, timeoutMs: number, signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      if (count !== since || signal.aborted) return resolve(count !== since)
      const done = () => {
        waiting.delete(done)
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve(count !== since)
      }
      const timer = setTimeout(done, timeoutMs)
      signal.addEventListener('abort', done)
      waiting.add(done)
    })

  return { count: () => count, increment, isAwaited: () => waiting.size > 0, changed }
}
