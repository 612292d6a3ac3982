import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { shortTime } from '../cli/time-text.ts'
import { printDocument, printLines } from '../cli/output.ts'
import type { Account, Identity } from '../client/api/account.ts'
import { explainName, openAccount, userText } from './support/account.ts'
import type { Access } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & { readonly setName?: string }

const describe = (
  server: string,
  { user, namespace, role, session }: Account,
  identities: readonly Identity[],
): string[] => {
  const { identityId, deviceName, expiresAt } = session
  const device = identities.find(({ id }) => id === identityId)?.name ?? deviceName
  return [
    `${userText(user)} at ${server}`,
    ...(user.displayName === undefined ? [`no name yet; to set one, run: ${commandName} whoami --set-name NAME`] : []),
    namespace ? `namespace ${namespace.slug} (${role})` : 'not a member of a namespace',
    ...(device === undefined ? [] : [`device ${device}`]),
    ...(expiresAt === undefined ? [] : [`logged in until ${shortTime(expiresAt)}`]),
  ]
}

export const whoami = async (access: Access, { json, setName }: Options): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  if (setName !== undefined) await asLogin(account.rename(setName)).catch(explainName)
  const found = await asLogin(account.session())
  const { user, namespace, role, session } = found
  if (json) await printDocument({ type: 'whoami', server: access.server, user, namespace, role, session })
  else await printLines(describe(access.server, found, await asLogin(account.identities())))
  return exitCodes.ok
}
