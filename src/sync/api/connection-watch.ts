import { spanText } from '../../cli/duration-text.ts'
import type { RequestFailed } from './errors.ts'

/** `silent`: no answer to a request so far. `back`: the server answers again. */
export type ConnectionState = 'out of reach' | 'busy' | 'silent' | 'back'

/** Called once for each change. `message` is a sentence for users. */
export type TellConnection = (state: ConnectionState, message: string) => void

/** Sees all requests to a server, which may run at the same time. */
export type ConnectionWatch = {
  /** A request begins; what it gives is called at its end. */
  readonly asks: () => () => void
  readonly answers: () => void
  /** A request failed, and will be repeated in so many milliseconds. */
  readonly fails: (error: RequestFailed, delayMs: number) => void
}

/** Shorter outages are not worth a line. */
const NOTICEABLE_MS = 2_000
const SILENCE_MS = 10_000

/** A gateway's 502 and 504 mean that the service behind it does not answer. */
const isBusy = ({ status }: RequestFailed): boolean => status === 429 || status === 503

export const newConnectionWatch = (
  tell: TellConnection,
  { now, patienceMs }: { readonly now: () => number; readonly patienceMs: number },
): ConnectionWatch => {
  let failingSince: number | undefined
  let isTold = false
  const tellOnce = (state: ConnectionState, message: string) => {
    if (!isTold) tell(state, message)
    isTold = true
  }
  return {
    asks: () => {
      const silent = () =>
        tellOnce('silent', `The server has not answered for ${spanText(SILENCE_MS)}; waiting for it.`)
      const timer = setTimeout(silent, SILENCE_MS).unref()
      return () => clearTimeout(timer)
    },
    answers: () => {
      failingSince = undefined
      if (isTold) tell('back', 'The server answers again.')
      isTold = false
    },
    fails: (error, delayMs) => {
      failingSince ??= now()
      if (now() - failingSince + delayMs < NOTICEABLE_MS) return
      const state = isBusy(error) ? 'busy' : 'out of reach'
      const next =
        delayMs > patienceMs ? `Next try in ${spanText(delayMs)}` : `Trying again for ${spanText(patienceMs)}`
      tellOnce(state, `The server is ${state} (${error.message}). ${next}.`)
    },
  }
}
