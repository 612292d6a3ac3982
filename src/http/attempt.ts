import { addressKey } from './address.ts'
import type { Caller } from './caller.ts'
import type { HttpError } from './http-error.ts'
import type { Limits } from './limits.ts'

export type AttemptOptions = {
  /** `beforeLookUp` is called before a token is looked up that was never seen valid here; what it throws is thrown. */
  readonly tokens: { find(token: string, beforeLookUp: () => void): Promise<Caller | undefined> }
  /** Undefined when nothing is limited. */
  readonly limits: Pick<Limits, 'unauthorized'> | undefined
}

/** Somebody at an address asks to be known as a caller. */
export type Attempt = {
  /**
   * The caller behind a token; undefined for one that is not valid.
   * @throws HttpError rate_limited, before the token is looked up, when too many attempts of this address have failed
   */
  callerOf(token: string): Promise<Caller | undefined>
  /** Counts the attempt as failed, if it is not counted yet. @throws HttpError rate_limited when that is too much */
  fail(): void
}

/**
 * `refuse` makes the error for an address that has to wait so many milliseconds. An attempt counts for its address before its token is looked up, so that any number at once cannot all be looked up;
 * that of a valid token is taken back, and so is one whose look-up could not be made.
 */
export const newAttempt = (
  { tokens, limits }: AttemptOptions,
  ip: string,
  refuse: (waitMs: number) => HttpError,
): Attempt => {
  const address = addressKey(ip)
  let isCounted = false

  const fail = () => {
    if (isCounted) return
    const wait = limits?.unauthorized.take(address)
    if (wait !== undefined) throw refuse(wait)
    isCounted = true
  }

  const callerOf = async (token: string) => {
    let isInvalid = false
    try {
      const caller = await tokens.find(token, fail)
      isInvalid = caller === undefined
      return caller
    } finally {
      if (isCounted && !isInvalid) limits?.unauthorized.giveBack(address)
    }
  }

  return { callerOf, fail }
}
