/** Wakes a loop that sleeps. A call of `wake` while the loop is awake makes its next `sleep` return at once. */
export const newWakeup = () => {
  let isWoken = false
  let endSleep = () => {}

  const wake = () => {
    isWoken = true
    endSleep()
  }

  const wait = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal?.addEventListener('abort', end)
      endSleep = end
    })

  /** Resolves after `wake`, after `ms`, or with the signal. */
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (!isWoken && !signal?.aborted) await wait(ms, signal)
    isWoken = false
  }

  return { wake, sleep }
}

export type Wakeup = ReturnType<typeof newWakeup>

/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> => newWakeup().sleep(ms, signal)

/** Waits for `work`, and calls `late` if that takes longer than `ms`. */
export const ifLate = async <T>(ms: number, late: () => void, work: Promise<T>): Promise<T> => {
  const timer = setTimeout(late, ms)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}

/**
 * For how long a request waits for one thing that may pass by itself, in milliseconds: a log or a database that is away, other
 * writers to the same stream, read models that are behind. Then it is answered with 503. That is enough for a reconnection, and for
 * another process to take over where one dies; and so little that requests do not pile up behind an outage.
 */
export const REQUEST_WAIT_MS = 5_000

/**
 * For how long one step of a work may take that has a deadline: half of it. Then there is time for another attempt, over another connection,
 * after a server that is silent; and whoever waits as long as the work may take still gets its answer.
 */
export const attemptMs = (deadlineMs: number): number => deadlineMs / 2

/**
 * Resolves like `work`, or to undefined once the signal aborts. Unlike `Promise.race` it removes its listener, so that a long-lived
 * signal does not collect one for each call.
 */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const abort = () => resolve(undefined)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    void work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
