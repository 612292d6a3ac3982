/** When a query may be executed again: after a pause, which grows while there is no answer. */
export type Pace = {
  /** Milliseconds until it may be executed. */
  delayMs(): number
  /** Called when an answer was passed on: the CPU time it took, in milliseconds, and its bytes for all subscribers together. */
  answered(cpuMs: number, bytes: number): void
  /** Called when an answer may not be sent: the pause grows. */
  refused(): void
  /** An execution has failed. Says whether to give up, because executions have failed for too long. */
  noteFailure(): 'go on' | 'give up'
  /** It may not be executed before this time. */
  delayUntil(time: number): void
  /** Ends the pause. */
  hurry(): void
}

/** The shortest pause between two answers, so that a burst of changes gives one. */
export const REST_MS = 60
/**
 * The pause grows with the CPU time of sending an answer, so that this takes a quarter of a processor at most. CPU time and not time,
 * because on a busy machine clients would wait twice.
 */
const REST_FACTOR = 3
const MAX_REST_MS = 160
/** The rate at which a query sends to all its subscribers together: after an answer of 1 MB to forty of them it pauses for 200 ms. */
const BYTES_PER_MS = 200_000
const MAX_SENDING_MS = 2_000
const MIN_DELAY_MS = 10
const FAILURE_DELAY_MS = 100
const MAX_DELAY_MS = 2_000
/** A query that has failed for this long is given up: its subscribers have to subscribe again. */
const GIVE_UP_MS = 10_000

/** Times are by `performance.now()`. */
export const newPace = (): Pace => {
  let until = 0
  let delay = MIN_DELAY_MS
  let failing: { readonly since: number; delay: number } | undefined

  const noteFailure = () => {
    failing ??= { since: performance.now(), delay: FAILURE_DELAY_MS }
    if (performance.now() - failing.since > GIVE_UP_MS) return 'give up'
    until = performance.now() + failing.delay
    failing.delay = Math.min(2 * failing.delay, MAX_DELAY_MS)
    return 'go on'
  }

  return {
    delayMs: () => Math.max(0, until - performance.now()),
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
    noteFailure,
    delayUntil: (time) => (until = Math.max(until, time)),
    hurry: () => {
      delay = MIN_DELAY_MS
      until = 0
    },
  }
}
