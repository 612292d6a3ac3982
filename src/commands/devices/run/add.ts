import { commandName } from '../../../cli/command-name.ts'
import { exitCodes } from '../../../cli/exit.ts'
import { shortTime } from '../../../cli/short-time.ts'
import { printDocument, printLines, say } from '../../../cli/output.ts'
import { isLoopback } from '../../../sync/config.ts'
import { openAccount } from '../../support/account.ts'
import type { Access } from '../../support/access.ts'
import { type ClientOptions } from '../../support/client-command.ts'

export const add = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { server } = access
  const { account, asLogin } = await openAccount(access)
  const { code, expiresAt } = await asLogin(account.newDeviceCode())
  const command = `${commandName} login --join ${code} --server ${server}`
  if (json) {
    await printDocument({ type: 'code', server, code, expiresAt, command })
    return exitCodes.ok
  }
  say(`On the other machine, until ${shortTime(expiresAt)}:`)
  await printLines(['', `  ${command}`, ''])
  say('Without the code there it asks for it: then no list of processes shows it.')
  if (isLoopback(new URL(server).hostname))
    say(
      'This server is known here as an address of this machine: put the one there that the other machine reaches it at.',
    )
  say(`Who enters the code acts as you: give it to nobody else. Your devices: ${commandName} devices`)
  return exitCodes.ok
}
