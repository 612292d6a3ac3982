/**
 * Resolves like `work`, or to undefined once the signal aborts. Unlike `Promise.race` it removes its listener, so a signal
 * that lives long does not collect one for every call.
 */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const abort = () => resolve(undefined)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    void work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
