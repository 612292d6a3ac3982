/** Waits between attempts, in milliseconds. The maximum doubles each time. */
export type Backoff = {
  /** How long to wait before the next attempt. */
  next(): number
  /** Starts again with the shortest wait, after a success. */
  reset(): void
}

const FIRST_MS = 250
const LONGEST_MS = 30_000

/** Half of each wait is random, so that clients of a service that has restarted do not all connect at the same moment. */
export const newBackoff = (random: () => number = Math.random, firstMs = FIRST_MS): Backoff => {
  let wait = firstMs
  const next = () => {
    const now = wait / 2 + (random() * wait) / 2
    wait = Math.min(2 * wait, LONGEST_MS)
    return now
  }
  return { next, reset: () => (wait = firstMs) }
}
