import { setTimeout } from 'node:timers/promises'

/** The result of a look that has found something: not `false`, `undefined` or 0. */
type Found<T> = Exclude<T, false | undefined | 0>

/** The pause between two looks, in milliseconds. A look often takes longer, for example to connect to a database. */
const [SHORTEST, LONGEST] = [10, 60]

/**
 * Looks again and again until something is found, and returns it. The pauses grow, so that the awaited work gets the processor. There
 * is no timeout: the runner ends a test that never finds anything.
 */
export const until = async <T>(look: () => T | Promise<T>): Promise<Found<T>> => {
  const since = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false && found !== 0) return found as Found<T>
    await setTimeout(Math.min(LONGEST, SHORTEST + (performance.now() - since) / 20))
  }
}
