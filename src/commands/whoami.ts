import { Command } from 'commander'
import { exitCodes } from '../cli/exit.ts'
import { localTime } from '../cli/local-time.ts'
import { printDocument, printLines } from '../cli/output.ts'
import type { Account } from '../sync/api/account.ts'
import { openAccount, userText } from './support/account.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Says who this machine is logged in as: the user, the active namespace with your role in it, and until
when. The server is asked, so it also tells whether the login is still good.`,
  examples: [
    ['tracebook whoami'],
    ['tracebook whoami --server https://traces.example.org'],
    ['tracebook whoami --json | jq -r .namespace.slug', 'for a script'],
  ],
  documents: [['{"type":"whoami","server","user","namespace"?,"role"?,"session"}', 'as GET /v1/session shows them']],
  exitCodes: { 0: 'logged in', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
}

const describe = (server: string, { user, namespace, role, session }: Account): string[] => {
  const { deviceName, expiresAt } = session
  return [
    `${userText(user)} at ${server}`,
    namespace ? `namespace ${namespace.slug} (${role})` : 'a member of no namespace',
    ...(deviceName === undefined ? [] : [`device ${deviceName}`]),
    ...(expiresAt === undefined ? [] : [`logged in until ${localTime(expiresAt)}`]),
  ]
}

const whoami = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const found = await asLogin(account.session())
  const { user, namespace, role, session } = found
  if (json) await printDocument({ type: 'whoami', server: access.server, user, namespace, role, session })
  else await printLines(describe(access.server, found))
  return exitCodes.ok
}

/** `tracebook whoami`: says who this machine is logged in as. Output and exit codes in its help. */
export const whoamiCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('whoami'), { help, namespace: false, run: whoami })
