/** Wakes a loop that sleeps. A call of `wake` while the loop is awake makes its next `sleep` return at once. */
export type Wakeup = {
  wake(): void
  /** Resolves after `wake`, after `ms`, or with the signal. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const newWakeup = (): Wakeup => {
  let isWoken = false
  let endSleep = () => {}

  const wake = () => {
    isWoken = true
    endSleep()
  }

  const wait = (ms: number, signal: AbortSignal) =>
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

  const sleep = async (ms: number, signal: AbortSignal) => {
    if (!isWoken && !signal.aborted) await wait(ms, signal)
    isWoken = false
  }

  return { wake, sleep }
}
