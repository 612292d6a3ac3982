import { streamsOfCaller } from '../http/auth.ts'
import type { Caller } from '../http/caller.ts'
import { sha256 } from '../base/ids.ts'
import { isToken } from '../session/token.ts'
import type { RealtimeServices } from './services.ts'

/** The caller behind a token, each time anew; undefined without a valid one. @throws Unavailable, InQuarantine */
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

/**
 * Whose answer it is, as part of a key that may stay in memory: never the token itself. What cannot be a token is
 * nobody's.
 */
export const keyOfToken = (token: string | undefined): string =>
  token === undefined || !isToken(token) ? 'anybody' : sha256(token)

/** What has to change before a caller has other rights. */
export const topicsOfCaller = (caller: Caller | undefined): string[] =>
  caller ? [caller.sessionId, caller.userId] : []
