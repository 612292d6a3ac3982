import { setTimeout } from 'node:timers/promises'

/** What has been found: neither `false` nor `undefined`. */
type Found<T> = Exclude<T, false | undefined>

/**
 * Looks again and again until there is something, and gives it. Between two looks the processor is whose work is waited for;
 * a test that looks in vain is ended by the runner.
 */
export const until = async <T>(look: () => T | Promise<T>): Promise<Found<T>> => {
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found as Found<T>
    await setTimeout(10)
  }
}
