import { Command } from 'commander'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { requireLogin } from '../sync/login/connect.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Prints the token of your login, for scripts that call the API themselves. Whoever has it acts as you until
"tracebook logout": keep it out of files and logs. The server is not asked; "tracebook whoami" says
whether the token is still good. With --namespace: one of a session in that namespace.`,
  examples: [
    ['curl -H "authorization: Bearer $(tracebook token)" \\'],
    ['  "$TRACEBOOK_URL/v1/traces?limit=10"', 'the newest traces'],
    ['TOKEN=$(tracebook token --namespace my-team)', 'writes to my-team'],
  ],
  documents: [['{"type":"token","server","token"}']],
  exitCodes: { 0: 'printed', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
}

const tokenOf = async ({ config, server, namespace, connect }: Access): Promise<string> =>
  namespace === undefined
    ? (await requireLogin(config, server)).login.token
    : (await connect({ readOnly: false })).token

const printToken = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const token = await tokenOf(access)
  if (process.stdout.isTTY) say('This is a secret: whoever has it acts as you, until "tracebook logout".')
  if (json) await printDocument({ type: 'token', server: access.server, token })
  else await printLines([token])
  return exitCodes.ok
}

/** `tracebook token`: prints the token of the login. Output and exit codes in its help. */
export const tokenCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('token'), {
    help,
    namespace: 'a token of a session in this namespace',
    run: printToken,
  })
