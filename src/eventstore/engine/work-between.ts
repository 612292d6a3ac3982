import type { Batch } from '../log/log.ts'

/**
 * Yields batches, and works between them: once after each batch with events, and then until the next batch has come or no work is left. So batches
 * go before the work, and neither ever stops the other.
 * @param follow begins to follow the log until the signal aborts
 * @param work does some of the work; returns false if none was left. Gets a function that says whether the next batch has come
 */
export async function* workBetween<Item>(
  follow: (signal: AbortSignal) => AsyncIterable<Batch<Item>>,
  work: (hasBatch: () => boolean) => Promise<boolean>,
): AsyncGenerator<Batch<Item>> {
  const ended = new AbortController()
  const batches = follow(ended.signal)[Symbol.asyncIterator]()
  let mayHaveWork = true
  try {
    for (;;) {
      let isThere = false
      const noteThatItIsThere = () => void (isThere = true)
      const next = batches.next()
      next.then(noteThatItIsThere, noteThatItIsThere)
      while (mayHaveWork) {
        mayHaveWork = await work(() => isThere)
        if (isThere) break
      }
      const { done, value } = await next
      if (done) return
      yield value
      mayHaveWork ||= value.events.length > 0
    }
  } finally {
    ended.abort()
    await batches.return?.()
  }
}
