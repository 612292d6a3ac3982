import { RequestFailed } from '../api/errors.ts'
import { newAccountClient } from '../api/account.ts'
import type { RetryTiming } from '../api/retry.ts'
import { readCredentials, removeLogin } from './credentials.ts'

/** `ended`: the sessions have ended on the server. `forgotten`: only the tokens here are gone, because the server did not answer. */
export type LoggedOut = 'ended' | 'forgotten' | 'not logged in'

type LogoutOptions = {
  readonly config: string
  readonly server: string
  /** Removes the tokens also if the server cannot be reached. */
  readonly force: boolean
  readonly timing: RetryTiming
}

/**
 * Ends the sessions of this machine at a server, and removes their tokens; the device id stays. Throws RequestFailed when the
 * server does not answer; the tokens are kept then, unless `force`.
 */
export const logOut = async ({ config, server, force, timing }: LogoutOptions): Promise<LoggedOut> => {
  const stored = await readCredentials(config, server)
  const tokens = stored ? [...(stored.login ? [stored.login] : []), ...stored.others].map(({ token }) => token) : []
  if (tokens.length === 0) return 'not logged in'
  try {
    for (const token of tokens) await newAccountClient(server, token, timing).signOut()
  } catch (error) {
    if (!force || !(error instanceof RequestFailed)) throw error
    await removeLogin(config, server)
    return 'forgotten'
  }
  await removeLogin(config, server)
  return 'ended'
}
