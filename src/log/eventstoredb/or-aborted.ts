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
