/** Counts what may have changed, so that what has been seen before a look cannot be missed after it. */
export type Version = {
  now(): number
  /** Something may have changed: whoever waits goes on. */
  move(): void
  isAwaited(): boolean
  /** Waits until the version has moved on, for `timeoutMs`, or until abort. Says whether it has. */
  changed(since: number, timeoutMs: number, signal: AbortSignal): Promise<boolean>
}

export const newVersion = (): Version => {
  const waiting = new Set<() => void>()
  let count = 0

  const move = () => {
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

  return { now: () => count, move, isAwaited: () => waiting.size > 0, changed }
}
