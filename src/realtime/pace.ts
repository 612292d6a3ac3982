/** When a query may be asked again: not at once after an answer, and later and later while there is none. */
export type Pace = {
  /** Milliseconds until it may be asked. */
  wait(): number
  /** An answer was passed on, which took this many milliseconds of the processor: so many bytes to all subscribers together. */
  answered(cpuMs: number, bytes: number): void
  /** The answer may not be sent. */
  refused(): void
  /** Asking has failed. False when it has failed for too long. */
  failed(): boolean
  /** It may be asked no sooner than at this time. */
  delayUntil(time: number): void
  /** What it waits for may have come. */
  hurry(): void
}

/** At least so long between two answers: a burst of changes gives one. */
export const REST_MS = 60
/**
 * The rest grows with what telling an answer costs: that takes a quarter of the processor's time at most. It is not counted
 * how long it takes on a machine that is busy with other things: clients would wait for that twice.
 */
const REST_FACTOR = 3
const MAX_REST_MS = 160
/** What goes to all subscribers of a query together, at most: an answer of 1 MB to forty of them rests for 200 ms. */
const BYTES_PER_MS = 200_000
const MAX_SENDING_MS = 2_000
const MIN_DELAY_MS = 10
const FAILURE_DELAY_MS = 100
const MAX_DELAY_MS = 2_000
/** A query that cannot be asked for this long fails: its subscribers come again. */
const GIVE_UP_MS = 10_000

/** Times are milliseconds that only move forward. */
export const newPace = (): Pace => {
  let until = 0
  let delay = MIN_DELAY_MS
  let failing: { readonly since: number; delay: number } | undefined

  const failed = () => {
    failing ??= { since: performance.now(), delay: FAILURE_DELAY_MS }
    if (performance.now() - failing.since > GIVE_UP_MS) return false
    until = performance.now() + failing.delay
    failing.delay = Math.min(2 * failing.delay, MAX_DELAY_MS)
    return true
  }

  return {
    wait: () => Math.max(0, until - performance.now()),
    answered: (cpuMs, bytes) => {
      failing = undefined
      delay = MIN_DELAY_MS
      const sendingMs = Math.min(MAX_SENDING_MS, bytes / BYTES_PER_MS)
      until = performance.now() + Math.max(REST_MS, sendingMs, Math.min(MAX_REST_MS, REST_FACTOR * cpuMs))
    },
    refused: () => {
      delay = Math.min(2 * delay, MAX_DELAY_MS)
      until = performance.now() + delay
    },
    failed,
    delayUntil: (time) => (until = Math.max(until, time)),
    hurry: () => {
      delay = MIN_DELAY_MS
      until = 0
    },
  }
}
