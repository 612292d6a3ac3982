import { exitCodes } from '../../cli/exit.ts'
import { localTime } from '../../cli/local-time.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import type { Account } from '../../sync/api/account.ts'
import { openAccount, userText } from '../support/account.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions } from '../support/client-command.ts'

const describe = (server: string, { user, namespace, role, session }: Account): string[] => {
  const { deviceName, expiresAt } = session
  return [
    `${userText(user)} at ${server}`,
    namespace ? `namespace ${namespace.slug} (${role})` : 'a member of no namespace',
    ...(deviceName === undefined ? [] : [`device ${deviceName}`]),
    ...(expiresAt === undefined ? [] : [`logged in until ${localTime(expiresAt)}`]),
  ]
}

export const whoami = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const found = await asLogin(account.session())
  const { user, namespace, role, session } = found
  if (json) await printDocument({ type: 'whoami', server: access.server, user, namespace, role, session })
  else await printLines(describe(access.server, found))
  return exitCodes.ok
}
