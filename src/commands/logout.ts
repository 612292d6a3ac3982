import { commandName } from '../cli/command-name.ts'
import { UsageError, errorMessage, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { RequestFailed } from '../sync/api/errors.ts'
import { serversWithLogin } from '../sync/login/credentials.ts'
import { type LoggedOut, logOut } from '../sync/login/logout.ts'
import { type Access, noticedTiming } from './support/access.ts'
import type { ClientOptions } from './declared/command.ts'

type Options = ClientOptions & { readonly all?: boolean; readonly force?: boolean }

const texts: Readonly<Record<LoggedOut, (server: string) => string>> = {
  ended: (server) => `Logged out of ${server}.`,
  forgotten: (server) => `Removed the tokens of ${server}. It did not answer, so the session there was not ended.`,
  'not logged in': (server) => `Not logged in to ${server}.`,
}

/** Logs out of one server. False if it does not answer. */
const logOutOf = async (config: string, server: string, { force = false, json }: Options): Promise<boolean> => {
  try {
    const result = await logOut({ config, server, force, timing: noticedTiming })
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
