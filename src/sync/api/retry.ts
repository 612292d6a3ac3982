import { setTimeout } from 'node:timers/promises'
import { spanText } from '../../cli/duration-text.ts'
import { type ConnectionWatch, newConnectionWatch, type TellConnection } from './connection-watch.ts'
import { isTemporaryFailure, RequestFailed } from './errors.ts'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000
/** A server that asks for a longer `Retry-After` is not waited for. */
const MAX_RETRY_AFTER_MS = 120_000
/** For a command that somebody waits for. */
const PATIENCE_MS = 10_000
/** For a command that works through a lot: long enough for a service that is restarted. */
const LONG_PATIENCE_MS = 120_000

/** How requests are repeated. The timer, the clock and the randomness (0 to 1) are arguments, so that tests need not wait. */
export type RetryTiming = {
  /** May reject when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>
  /** Milliseconds that only grow. */
  readonly now: () => number
  readonly random: () => number
  /** For how long a request that fails is repeated, from its first failure on. */
  readonly patienceMs: number
  /** Is told of requests that fail and succeed. All requests with this timing share it. */
  readonly watch?: ConnectionWatch
  /** Once it is aborted no request begins and no delay goes on: its reason is thrown. */
  readonly signal?: AbortSignal
}

export const realTiming: RetryTiming = {
  // A timer that went on would keep the process from ending.
  sleep: (ms, signal) => setTimeout(ms, undefined, signal ? { signal } : {}),
  now: () => performance.now(),
  random: Math.random,
  patienceMs: PATIENCE_MS,
}

/** The same timing for a command that goes on for long: a service may be away for two minutes. */
export const withPatience = (timing: RetryTiming): RetryTiming => ({ ...timing, patienceMs: LONG_PATIENCE_MS })

/** The same timing, which tells once when the server is out of reach, busy or silent, and when it is back. */
export const withConnectionNotice = (timing: RetryTiming, tell: TellConnection): RetryTiming => ({
  ...timing,
  watch: newConnectionWatch(tell, timing),
})

/** The same timing, which prints that as lines. */
export const withNotice = (timing: RetryTiming, print: (line: string) => void): RetryTiming =>
  withConnectionNotice(timing, (_state, message) => print(`${message}\n`))

/** The same timing, until the signal is aborted. */
export const withSignal = (timing: RetryTiming, signal: AbortSignal): RetryTiming => ({
  ...timing,
  signal,
  sleep: async (ms) => {
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    try {
      await Promise.race([timing.sleep(ms, signal), aborted])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  },
})

/** Exponential backoff with jitter, so that many clients do not retry at once; at least the `Retry-After` of the server. */
const delayMs = (attempt: number, retryAfterMs: number | undefined, random: () => number): number =>
  retryAfterMs === undefined
    ? (0.5 + random() / 2) * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
    : retryAfterMs * (1 + random() / 10)

/** The failure with which the tries end, and why they do. */
const givenUp = (error: RequestFailed, why: string): RequestFailed => {
  const { status, code } = error
  const details = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) }
  const hint = status === undefined ? '. Is the server running, and is this its address?' : ''
  return new RequestFailed(`${error.message} (${why})${hint}`, details, { cause: error })
}

/**
 * Runs `request` again while it fails with a temporary error (`isTemporaryFailure`), for as long as `patienceMs` says, with a growing
 * delay or the one that the server asks for. Throws the last failure, at once when the server asks for too long a delay, and
 * the reason of an aborted signal.
 */
export const withRetry = async <T>(request: () => Promise<T>, timing: RetryTiming): Promise<T> => {
  const { sleep, now, random, patienceMs, watch, signal } = timing
  let firstFailure: number | undefined
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const answered = watch?.asks()
    try {
      const result = await request()
      watch?.answers()
      return result
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error
      if (!isTemporaryFailure(error)) {
        watch?.answers()
        throw error
      }
      firstFailure ??= now()
      const [elapsed, { retryAfterMs }] = [now() - firstFailure, error]
      const limit = retryAfterMs === undefined ? patienceMs : Math.max(patienceMs, MAX_RETRY_AFTER_MS)
      if (retryAfterMs !== undefined && elapsed + retryAfterMs > limit)
        throw givenUp(error, `asks to wait ${spanText(retryAfterMs)}`)
      if (elapsed >= limit) throw givenUp(error, `tried for ${spanText(limit)}`)
      const delay = delayMs(attempt, retryAfterMs, random)
      const wait = retryAfterMs === undefined ? Math.min(delay, limit - elapsed) : delay
      watch?.fails(error, wait)
      await sleep(wait)
    } finally {
      answered?.()
    }
  }
}
