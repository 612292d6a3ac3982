/** Waits between attempts, in milliseconds: each up to twice as long as the one before. */
export type Backoff = {
  /** How long to wait before the next attempt. */
  next(): number
  /** Begins anew: an attempt has succeeded. */
  reset(): void
}

const FIRST_MS = 250
const LONGEST_MS = 30_000

/** Half of each wait is by chance, so that clients of a service that has restarted do not all come at the same moment. */
export const newBackoff = (random: () => number = Math.random, firstMs = FIRST_MS): Backoff => {
  let wait = firstMs
  const next = () => {
    const now = wait / 2 + (random() * wait) / 2
    wait = Math.min(2 * wait, LONGEST_MS)
    return now
  }
  return { next, reset: () => (wait = firstMs) }
}
