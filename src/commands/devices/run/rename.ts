import { exitCodes } from '../../../cli/exit.ts'
import { printDocument, printLines } from '../../../cli/output.ts'
import { openAccount } from '../../support/account.ts'
import type { Access } from '../../support/access.ts'
import type { ClientOptions } from '../../support/client-command.ts'
import { explainName } from '../../support/user-name.ts'
import { deviceNamed, deviceText, devicesOf } from '../devices-of.ts'

export const rename = async (
  access: Access,
  { json }: ClientOptions,
  device: string,
  name: string,
): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const found = deviceNamed(await asLogin(devicesOf(account)), device)
  await account.nameIdentity(found.id, name).catch(explainName)
  if (json) await printDocument({ type: 'renamed', id: found.id, name })
  else await printLines([`The ${deviceText(found)} is "${name}" now.`])
  return exitCodes.ok
}
