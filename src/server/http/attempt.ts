import { addressKey } from './address.ts'
import type { Caller } from './caller.ts'
import { rateLimited } from './http-error.ts'
import type { Limits } from './limits.ts'

export type AttemptOptions = {
  /**
   * `beforeLookUp` is called before the look-up of a token that has not been valid on this node before; its errors are thrown.
   */
  readonly tokens: { find(token: string, beforeLookUp: () => void): Promise<Caller | undefined> }
  /** Undefined if rate limits are off. */
  readonly limits: Pick<Limits, 'unauthorized'> | undefined
}

/** The authentication of one request or connection, limited by address. */
type Attempt = {
  /**
   * The caller of a token; undefined if the token is not valid.
   * @throws HttpError rate_limited, before the token is looked up, if too many attempts of this address have failed
   */
  callerOf(token: string): Promise<Caller | undefined>
  /** Looks up another secret, such as a one-time code; `lookUp` returns undefined if the secret does not exist. */
  resultOf<Result>(lookUp: () => Promise<Result | undefined>): Promise<Result | undefined>
  /** Counts the attempt as failed, unless it is counted already. @throws HttpError rate_limited if the limit is exceeded */
  fail(): void
}

/**
 * An attempt is counted for its address before its token is looked up, so that concurrent requests cannot exceed the limit. It
 * is uncounted if the token turns out to be valid, or the look-up fails.
 */
export const newAttempt = ({ tokens, limits }: AttemptOptions, ip: string): Attempt => {
  const address = addressKey(ip)
  let isCounted = false

  const fail = () => {
    if (isCounted) return
    const wait = limits?.unauthorized.take(address)
    if (wait !== undefined) throw rateLimited(wait)
    isCounted = true
  }

  const uncountUnlessInvalid = async <Result>(lookUp: () => Promise<Result | undefined>) => {
    let isInvalid = false
    try {
      const found = await lookUp()
      isInvalid = found === undefined
      return found
    } finally {
      if (isCounted && !isInvalid) limits?.unauthorized.giveBack(address)
    }
  }

  const callerOf = (token: string) => uncountUnlessInvalid(() => tokens.find(token, fail))

  const resultOf: Attempt['resultOf'] = (lookUp) =>
    uncountUnlessInvalid(async () => {
      fail()
      return lookUp()
    })

  return { callerOf, resultOf, fail }
}
