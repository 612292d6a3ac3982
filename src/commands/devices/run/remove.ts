import { requireAgreement } from '../../../cli/ask.ts'
import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { printDocument, printLines } from '../../../cli/output.ts'
import { hasStatus } from '../../../sync/api/errors.ts'
import { removeLogin } from '../../../sync/login/credentials.ts'
import { openAccount } from '../../support/account.ts'
import type { Access } from '../../support/access.ts'
import { deviceNamed, deviceText, devicesOf } from '../devices-of.ts'
import type { ClientOptions } from '../../support/client-command.ts'

export type Options = ClientOptions & { readonly yes?: boolean }

const explainLast = (error: unknown): never => {
  if (hasStatus(error, 409)) throw new UsageError('It is the only way to sign in as you: add another device first')
  throw error
}

export const remove = async (access: Access, options: Options, name: string): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const device = deviceNamed(await asLogin(devicesOf(account)), name)
  const { id, names, current } = device
  const own = current ? ' It is this machine, which is logged out by that.' : ''
  await requireAgreement(
    `${deviceText(device)} will be signed out, and can sign in as you no more.${own}`,
    options.yes ?? false,
  )
  await account.removeIdentity(id).catch(explainLast)
  if (current) await removeLogin(access.config, access.server)
  if (options.json) await printDocument({ type: 'removed', id, names, current })
  else await printLines([`Removed ${deviceText(device)}.`])
  return exitCodes.ok
}
