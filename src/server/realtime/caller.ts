import { streamsOfCaller } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { sha256 } from '../../base/ids.ts'
import { isToken } from '../session/tokens.ts'
import type { RealtimeServices } from './services.ts'

/** The caller of a token, looked up each time; undefined if there is no valid token. @throws Unavailable, InQuarantine */
export const findCaller = async (
  { tokens, reads, lastUsed }: Pick<RealtimeServices, 'tokens' | 'reads' | 'lastUsed'>,
  token: string | undefined,
): Promise<Caller | undefined> => {
  const caller = token === undefined ? undefined : await tokens.find(token)
  if (!caller) return undefined
  reads.assertNotQuarantined(...streamsOfCaller(caller))
  lastUsed.record(caller.sessionId)
  return caller
}

/** The caller's part of a query's key: a hash of the token, because keys stay in memory. All callers without a token, or with an impossible one, share one. */
export const keyOfToken = (token: string | undefined): string =>
  token === undefined || !isToken(token) ? 'anybody' : sha256(token)

/** The topics whose events may change the rights of a caller. */
export const topicsOfCaller = (caller: Caller | undefined): string[] =>
  caller ? [caller.sessionId, caller.userId] : []
