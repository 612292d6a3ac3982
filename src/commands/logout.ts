import { commandName } from '../cli/command-name.ts'
import { errorMessage, exitCodes, UsageError } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { newAccountClient } from '../client/api/account.ts'
import { RequestFailed } from '../client/api/errors.ts'
import { readCredentials, removeLogin, serversWithLogin } from '../client/login/credentials.ts'
import type { ClientOptions } from './support/access.ts'
import { type Access, noticedTiming } from './support/access.ts'

/** `ended`: the sessions have ended on the server. `forgotten`: only the tokens here are gone, because the server did not answer. */
type LoggedOut = 'ended' | 'forgotten' | 'not logged in'

/**
 * Ends the sessions of this machine at a server, and removes their tokens; the device id stays. Throws RequestFailed when the
 * server does not answer; the tokens are kept then, unless `force`.
 */
const logOut = async (config: string, server: string, force: boolean): Promise<LoggedOut> => {
  const stored = await readCredentials(config, server)
  const tokens = stored ? [...(stored.login ? [stored.login] : []), ...stored.others].map(({ token }) => token) : []
  if (tokens.length === 0) return 'not logged in'
  try {
    for (const token of tokens) await newAccountClient(server, token, noticedTiming).signOut()
  } catch (error) {
    if (!force || !(error instanceof RequestFailed)) throw error
    await removeLogin(config, server)
    return 'forgotten'
  }
  await removeLogin(config, server)
  return 'ended'
}

type Options = ClientOptions & { readonly all?: boolean; readonly force?: boolean }

const texts: Readonly<Record<LoggedOut, (server: string) => string>> = {
  ended: (server) => `Logged out of ${server}.`,
  forgotten: (server) => `Removed the tokens of ${server}. It did not answer, so the session there was not ended.`,
  'not logged in': (server) => `Not logged in to ${server}.`,
}

/** Logs out of one server. False if it does not answer. */
const logOutOf = async (config: string, server: string, { force = false, json }: Options): Promise<boolean> => {
  try {
    const result = await logOut(config, server, force)
    if (json) await printDocument({ type: 'logout', server, result })
    else await printLines([texts[result](server)])
    return true
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    const hint = `To remove the tokens here anyway, run: ${commandName} logout --force --server ${server}`
    const message = `Not logged out of ${server}: ${errorMessage(error)}. ${hint}`
    if (json) await printDocument({ type: 'error', message, exitCode: exitCodes.failed })
    else say(`tracebook: ${message}`)
    return false
  }
}

export const logout = async ({ config, server }: Access, options: Options): Promise<number> => {
  if (options.all && options.server !== undefined)
    throw new UsageError('--all logs out of every server: leave out --server.')
  const servers = options.all ? serversWithLogin(config) : [server]
  if (servers.length === 0 && !options.json) await printLines(['Not logged in to any server.'])
  const done: boolean[] = []
  for (const one of servers) done.push(await logOutOf(config, one, options))
  return done.every(Boolean) ? exitCodes.ok : exitCodes.failed
}
