import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { UsageError, errorMessage, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { RequestFailed } from '../sync/api/errors.ts'
import { serversWithLogin } from '../sync/login/credentials.ts'
import { type LoggedOut, logOut } from '../sync/login/logout.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Ends this machine's sessions on the server and removes their tokens. The machine stays a device of yours:
"tracebook login" makes you the same user again, and "tracebook devices remove" takes that away too. What
was uploaded stays. When the server does not answer, the tokens are kept, unless --force is given.`,
  examples: [
    ['tracebook logout'],
    ['tracebook logout --all', 'of every server that this machine is logged in to'],
    ['tracebook logout --force', 'a server that is gone'],
  ],
  documents: [['{"type":"logout","server","result"}', 'for each server; result: ended, forgotten, not logged in']],
  exitCodes: {
    0: 'logged out, or not logged in before',
    1: 'a server refused, or did not answer',
    2: 'wrong usage',
  },
}

type Options = ClientOptions & { readonly all?: boolean; readonly force?: boolean }

const texts: Readonly<Record<LoggedOut, (server: string) => string>> = {
  ended: (server) => `Logged out of ${server}.`,
  forgotten: (server) => `Removed the tokens of ${server}; it did not answer, and knows nothing of it.`,
  'not logged in': (server) => `Not logged in to ${server}.`,
}

/** Logs out of one server. False when it does not answer. */
const logOutOf = async (config: string, server: string, { force = false, json }: Options): Promise<boolean> => {
  try {
    const result = await logOut({ config, server, force, timing: noticedTiming })
    if (json) await printDocument({ type: 'logout', server, result })
    else await printLines([texts[result](server)])
    return true
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    const hint = `To remove the tokens here all the same: ${commandName} logout --force --server ${server}`
    const message = `Not logged out of ${server}: ${errorMessage(error)}. ${hint}`
    if (json) await printDocument({ type: 'error', message, exitCode: exitCodes.incomplete })
    else say(`tracebook: ${message}`)
    return false
  }
}

const logout = async ({ config, server }: Access, options: Options): Promise<number> => {
  if (options.all && options.server !== undefined) throw new UsageError('--all is every server: leave out --server')
  const servers = options.all ? serversWithLogin(config) : [server]
  if (servers.length === 0 && !options.json) await printLines(['Not logged in to any server.'])
  const done: boolean[] = []
  for (const one of servers) done.push(await logOutOf(config, one, options))
  return done.every(Boolean) ? exitCodes.ok : exitCodes.incomplete
}

/** `tracebook logout`: ends the login of a server. Output and exit codes in its help. */
export const logoutCommand = (): Command =>
  clientCommand<Options>(
    new Command('logout')
      .option('--all', 'log out of every server')
      .option('--force', 'remove the tokens also when the server does not answer'),
    { help, namespace: false, run: logout },
  )
