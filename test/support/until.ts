import { setTimeout } from 'node:timers/promises'

/** What has been found: neither `false` nor `undefined`, nor none of something that is counted. */
type Found<T> = Exclude<T, false | undefined | 0>

/** Between two looks, in milliseconds. A look often costs more than that, such as a connection to a database. */
const [SHORTEST, LONGEST] = [10, 60]

/**
 * Looks again and again until there is something, and gives it; less often the longer it waits. Between two looks the processor is
 * whose work is waited for; a test that looks in vain is ended by the runner.
 */
export const until = async <T>(look: () => T | Promise<T>): Promise<Found<T>> => {
  const since = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false && found !== 0) return found as Found<T>
    await setTimeout(Math.min(LONGEST, SHORTEST + (performance.now() - since) / 20))
  }
}
