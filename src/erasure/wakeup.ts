/** Wakes a loop that sleeps; a ring while it is awake is not lost. */
export type Bell = {
  ring(): void
  /** Resolves after a ring, after `ms`, or with the signal. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const newBell = (): Bell => {
  let isRung = false
  let wake = () => {}

  const ring = () => {
    isRung = true
    wake()
  }

  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
      wake = end
    })

  const wait = async (ms: number, signal: AbortSignal) => {
    if (!isRung && !signal.aborted) await sleep(ms, signal)
    isRung = false
  }

  return { ring, wait }
}
