/** Wakes a loop that waits. A call of `wake` while the loop is busy lets its next `wait` return at once. */
export type WakeUp = {
  wake(): void
  /** Resolves after a call of `wake`, after `ms`, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const newWakeUp = (): WakeUp => {
  let isAwake = false
  let endSleep = () => {}

  const wake = () => {
    isAwake = true
    endSleep()
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
      endSleep = end
    })

  const wait = async (ms: number, signal: AbortSignal) => {
    if (!isAwake && !signal.aborted) await sleep(ms, signal)
    isAwake = false
  }

  return { wake, wait }
}
