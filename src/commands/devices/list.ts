import { Command } from 'commander'
import { exitCodes } from '../../cli/exit.ts'
import { localTime } from '../../cli/local-time.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import { countOf } from '../../sync/report/text.ts'
import { openAccount } from '../support/account.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { type Device, deviceText, devicesOf } from './devices-of.ts'

const help: Help = {
  about: `
Lists the machines and accounts that sign in as you, oldest first, with a star at this one. What a machine
is called is what its sessions say. "tracebook devices add" adds one, "tracebook devices remove" ends one.`,
  examples: [['tracebook devices'], ['tracebook devices --json']],
  documents: [
    ['{"type":"device","id","kind","login"?,"names","sessions","lastUsedAt"?,"current"}', 'kind: device, codehost'],
  ],
}

const line = (device: Device): string => {
  const { id, sessions, lastUsedAt, current } = device
  const used = lastUsedAt === undefined ? '' : `, last used ${localTime(lastUsedAt)}`
  return `${current ? '*' : ' '} ${id}  ${deviceText(device)}: ${countOf(sessions, 'session')}${used}`
}

const list = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { account, asLogin } = await openAccount(access)
  const devices = await asLogin(devicesOf(account))
  if (!json) await printLines(devices.map(line))
  else
    for (const { type: kind, id, login, names, sessions, lastUsedAt, current } of devices)
      await printDocument({ type: 'device', id, kind, login, names, sessions, lastUsedAt, current })
  return exitCodes.ok
}

/** `tracebook devices list`: the machines and accounts of the user. Output and exit codes in its help. */
export const listCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('list').description('List what signs in as you (default)'), {
    help,
    namespace: false,
    run: list,
  })
