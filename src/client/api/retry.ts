import { setTimeout as sleepFor } from 'node:timers/promises'
import { timeoutText } from '../../cli/time-text.ts'
import { untrustedCertificate } from '../../base/untrusted-certificate.ts'
import { isTemporaryFailure, RequestFailed } from './errors.ts'

/** `silent`: a request has not been answered for long. `back`: the server answers again. */
export type ConnectionState = 'out of reach' | 'busy' | 'silent' | 'back'

/** Called once for each change. `message` is a sentence for users. */
type OnConnection = (state: ConnectionState, message: string) => void

/** Observes all requests to a server, which may run at the same time. */
type ConnectionWatch = {
  /** A request begins. Returns a function to be called at its end. */
  readonly asks: () => () => void
  readonly answers: () => void
  /** A request has failed, and will be repeated after `delayMs`. */
  readonly fails: (error: RequestFailed, delayMs: number) => void
}

/** Shorter outages are not reported. */
const NOTICEABLE_MS = 2_000
const SILENCE_MS = 10_000

/** A gateway's 502 and 504 mean that the service behind it does not answer. */
const isBusy = ({ status }: RequestFailed): boolean => status === 429 || status === 503

const newConnectionWatch = (
  report: OnConnection,
  { now, patienceMs }: { readonly now: () => number; readonly patienceMs: number },
): ConnectionWatch => {
  let failingSince: number | undefined
  let isReported = false
  const reportOnce = (state: ConnectionState, message: string) => {
    if (!isReported) report(state, message)
    isReported = true
  }
  return {
    asks: () => {
      const silent = () =>
        reportOnce('silent', `The server has not answered for ${timeoutText(SILENCE_MS)}; waiting for it.`)
      const timer = setTimeout(silent, SILENCE_MS).unref()
      return () => clearTimeout(timer)
    },
    answers: () => {
      failingSince = undefined
      if (isReported) report('back', 'The server answers again.')
      isReported = false
    },
    fails: (error, delayMs) => {
      failingSince ??= now()
      if (now() - failingSince + delayMs < NOTICEABLE_MS) return
      const state = isBusy(error) ? 'busy' : 'out of reach'
      const next =
        delayMs > patienceMs ? `Next try in ${timeoutText(delayMs)}` : `Trying again for ${timeoutText(patienceMs)}`
      reportOnce(state, `The server is ${state} (${error.message}). ${next}.`)
    },
  }
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 10_000
/** Where a server asks for a longer `Retry-After`, the request fails. */
const MAX_RETRY_AFTER_MS = 120_000
/** For commands that a person waits for. */
const PATIENCE_MS = 10_000
/** For commands that run for long: enough for a restart of the service. */
const LONG_PATIENCE_MS = 120_000

/** How requests are repeated. The timer, the clock and the random numbers (0 to 1) are arguments, so that tests need not wait. */
export type RetryTiming = {
  /** May reject once the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>
  /** Monotonic, in milliseconds. */
  readonly now: () => number
  readonly random: () => number
  /** For how long a request that fails is repeated, from its first failure on. */
  readonly patienceMs: number
  /** Observes which requests fail and succeed. All requests with this timing share it. */
  readonly watch?: ConnectionWatch
  /** Once it is aborted, no request begins and every delay ends; its reason is thrown. */
  readonly signal?: AbortSignal
}

export const realTiming: RetryTiming = {
  // With the signal, because a running timer keeps the process from ending.
  sleep: (ms, signal) => sleepFor(ms, undefined, signal ? { signal } : {}),
  now: () => performance.now(),
  random: Math.random,
  patienceMs: PATIENCE_MS,
}

/** The same timing for a command that runs for long: the service may be away for two minutes. */
export const withPatience = (timing: RetryTiming): RetryTiming => ({ ...timing, patienceMs: LONG_PATIENCE_MS })

/** The same timing, which reports once when the server is out of reach, busy or silent, and when it is back. */
export const withConnectionNotice = (timing: RetryTiming, report: OnConnection): RetryTiming => ({
  ...timing,
  watch: newConnectionWatch(report, timing),
})

/** The same timing, which prints these reports as lines. */
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

/** Exponential backoff with jitter, so that many clients do not retry at once, or else the `Retry-After` of the server. */
const delayMs = (attempt: number, retryAfterMs: number | undefined, random: () => number): number =>
  retryAfterMs === undefined
    ? (0.5 + random() / 2) * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
    : retryAfterMs * (1 + random() / 10)

/** The error after the last attempt. `why` says why there is no further one. */
const givenUp = (error: RequestFailed, why: string): RequestFailed => {
  const { status, code } = error
  const details = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) }
  const hint = status === undefined ? '. Is the server running, and is this its address?' : ''
  return new RequestFailed(`${error.message} (${why})${hint}`, details, { cause: error })
}

/** Whether the server's certificate is not trusted: another attempt a moment later would fail as well. */
const isUntrusted = ({ cause }: RequestFailed) =>
  cause instanceof Error && untrustedCertificate(cause.cause) !== undefined

/**
 * Runs `request` again while it fails with a temporary error (`isTemporaryFailure`), for up to `patienceMs`, with a growing delay or
 * the one that the server asks for. Throws the last error, at once where the server asks for too long a delay, and the reason of an
 * aborted signal.
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
      if (!(error instanceof RequestFailed) || isUntrusted(error)) throw error
      if (!isTemporaryFailure(error)) {
        watch?.answers()
        throw error
      }
      firstFailure ??= now()
      const [elapsed, { retryAfterMs }] = [now() - firstFailure, error]
      const limit = retryAfterMs === undefined ? patienceMs : Math.max(patienceMs, MAX_RETRY_AFTER_MS)
      if (retryAfterMs !== undefined && elapsed + retryAfterMs > limit)
        throw givenUp(error, `asks to wait ${timeoutText(retryAfterMs)}`)
      if (elapsed >= limit) throw givenUp(error, `tried for ${timeoutText(limit)}`)
      const delay = delayMs(attempt, retryAfterMs, random)
      const wait = retryAfterMs === undefined ? Math.min(delay, limit - elapsed) : delay
      watch?.fails(error, wait)
      await sleep(wait)
    } finally {
      answered?.()
    }
  }
}
