import { exitCodes } from '../../../cli/exit.ts'
import { shortTime } from '../../../cli/short-time.ts'
import { printDocument, printLines } from '../../../cli/output.ts'
import { countOf } from '../../../sync/report/text.ts'
import { openAccount } from '../../support/account.ts'
import type { Access } from '../../support/access.ts'
import { type ClientOptions } from '../../support/client-command.ts'
import { type Device, deviceText, devicesOf } from '../devices-of.ts'

const line = (device: Device): string => {
  const { id, sessions, lastUsedAt, current } = device
  const used = lastUsedAt === undefined ? '' : `, last used ${shortTime(lastUsedAt)}`
  return `${current ? '*' : ' '} ${id}  ${deviceText(device)}: ${countOf(sessions, 'session')}${used}`
}

export const list = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const devices = await asLogin(devicesOf(account))
  if (!json) await printLines(devices.map(line))
  else
    for (const { type: kind, id, login, name, names, sessions, lastUsedAt, current } of devices)
      await printDocument({ type: 'device', id, kind, login, name, names, sessions, lastUsedAt, current })
  return exitCodes.ok
}
