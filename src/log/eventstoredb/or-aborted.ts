/**
 * What a promise gives, or nothing as soon as the signal says that nobody waits any longer. Unlike `Promise.race` with
 * a promise of the abort it leaves nothing behind at a signal that outlives many of these.
 */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const abort = () => resolve(undefined)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    void work.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
