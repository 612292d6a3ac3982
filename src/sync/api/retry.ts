import { setTimeout } from 'node:timers/promises'
import { isTemporary, RequestFailed } from './errors.ts'

const MAX_ATTEMPTS = 6
const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
/** A server that asks for a longer `Retry-After` is not waited for. */
const MAX_RETRY_AFTER_MS = 120_000
/** Shorter delays are not worth a line in the terminal. */
const NOTICEABLE_MS = 2_000

/** The timer and the randomness (0 to 1) behind the delays; an argument, so that tests need not wait. */
export type RetryTiming = { readonly sleep: (ms: number) => Promise<unknown>; readonly random: () => number }

export const realTiming: RetryTiming = { sleep: (ms) => setTimeout(ms), random: Math.random }

/** The same timing, which prints a line before each delay of two seconds or more. */
export const withNotice = ({ sleep, random }: RetryTiming, print: (line: string) => void): RetryTiming => ({
  sleep: (ms) => {
    if (ms >= NOTICEABLE_MS)
      print(`The server is busy or out of reach: next try in ${Math.ceil(ms / 1_000)} seconds.\n`)
    return sleep(ms)
  },
  random,
})

/** Exponential backoff with full jitter, so that many clients do not retry at once; at least the `Retry-After` of the server. */
const delayMs = (attempt: number, retryAfterMs: number | undefined, random: () => number): number =>
  retryAfterMs === undefined
    ? random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
    : retryAfterMs * (1 + random() / 10)

/**
 * Runs `request` up to six times while it fails with a temporary error (`isTemporary`), with a growing delay or the one that
 * the server asks for. Throws the last failure, at once when the server asks for a delay of more than two minutes.
 */
export const withRetry = async <T>(request: () => Promise<T>, { sleep, random }: RetryTiming): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RequestFailed) || !isTemporary(error)) throw error
      const { retryAfterMs, status, code } = error
      const tooLong = retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS
      if (tooLong || attempt === MAX_ATTEMPTS) {
        const why = tooLong ? `asks to wait ${Math.ceil(retryAfterMs / 1_000)} seconds` : `tried ${MAX_ATTEMPTS} times`
        const details = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) }
        throw new RequestFailed(`${error.message} (${why})`, details, { cause: error })
      }
      await sleep(delayMs(attempt, retryAfterMs, random))
    }
  }
}
