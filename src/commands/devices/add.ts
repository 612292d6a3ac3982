import { Command } from 'commander'
import { commandName } from '../../cli/command-name.ts'
import { exitCodes } from '../../cli/exit.ts'
import { localTime } from '../../cli/local-time.ts'
import { printDocument, printLines, say } from '../../cli/output.ts'
import { isLoopback } from '../../sync/config.ts'
import { openAccount } from '../support/account.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'

const help: Help = {
  about: `
Makes a one-time code by which another machine becomes a device of yours: it then acts as you, with all
that you may do. The code works once, for ten minutes, and only while this machine is logged in. Give it to
no other person; who shall work with you is invited to a namespace.`,
  examples: [
    ['tracebook devices add', 'prints the line to enter on the other machine'],
    ['tracebook devices add --json | jq -r .code', 'the code alone, for a script'],
  ],
  documents: [['{"type":"code","server","code","expiresAt","command"}', 'expiresAt in milliseconds']],
}

const add = async (access: Access, { json }: ClientOptions): Promise<number> => {
  const { server } = access
  const { account, asLogin } = await openAccount(access)
  const { code, expiresAt } = await asLogin(account.newDeviceCode())
  const command = `${commandName} login --join ${code} --server ${server}`
  if (json) {
    await printDocument({ type: 'code', server, code, expiresAt, command })
    return exitCodes.ok
  }
  say(`On the other machine, until ${localTime(expiresAt)}:`)
  await printLines(['', `  ${command}`, ''])
  if (isLoopback(new URL(server).hostname))
    say(
      'This server is known here as an address of this machine: put the one there that the other machine reaches it at.',
    )
  say(`Who enters the code acts as you: give it to nobody else. Your devices: ${commandName} devices`)
  return exitCodes.ok
}

/** `tracebook devices add`: makes a code for another machine. Output and exit codes in its help. */
export const addCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('add').description('Make a code by which another machine becomes yours'), {
    help,
    namespace: false,
    run: add,
  })
