import { setTimeout as delay } from 'node:timers/promises'
import { isTemporary, RequestFailed } from './errors.ts'

const attempts = 6
const firstWaitMs = 500
const longestWaitMs = 30_000
const patienceMs = 120_000

/** How a wait is done and how it is spread, so that tests need not wait. */
export type Waiting = { readonly wait: (ms: number) => Promise<unknown>; readonly random: () => number }

export const realWaiting: Waiting = { wait: (ms) => delay(ms), random: Math.random }

/** `waiting`, with a line for people before each wait that they would notice. */
export const announced = ({ wait, random }: Waiting, print: (line: string) => void): Waiting => ({
  wait: (ms) => {
    if (ms >= 2_000) print(`The server is busy or out of reach: next try in ${Math.ceil(ms / 1_000)} seconds.\n`)
    return wait(ms)
  },
  random,
})

// Full jitter, so that many clients do not come back at once; on top of what the server asked for.
const pauseMs = (attempt: number, retryAfterMs: number | undefined, random: () => number): number =>
  retryAfterMs === undefined
    ? random() * Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1))
    : retryAfterMs * (1 + random() / 10)

/**
 * Runs `request`, at most six times while its failure may pass (errors: isTemporary), waiting as long as the server says, or
 * longer each time. Throws the last failure; a server that asks for over two minutes is not waited for.
 */
export const withRetry = async <T>(request: () => Promise<T>, { wait, random }: Waiting): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof RequestFailed) || !isTemporary(error)) throw error
      const { retryAfterMs, status, code } = error
      const tooLong = retryAfterMs !== undefined && retryAfterMs > patienceMs
      if (tooLong || attempt === attempts) {
        const tried = tooLong ? `asks to wait ${Math.ceil(retryAfterMs / 1_000)} seconds` : `tried ${attempts} times`
        const facts = { ...(status === undefined ? {} : { status }), ...(code === undefined ? {} : { code }) }
        throw new RequestFailed(`${error.message} (${tried})`, facts, { cause: error })
      }
      await wait(pauseMs(attempt, retryAfterMs, random))
    }
  }
}
