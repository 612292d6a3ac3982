import { Command } from 'commander'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'

const help: Help = {
  about: `
Lists the machines and accounts that sign in as you, oldest first, with a star at this one. A machine is
called as its host is, until "tracebook devices rename" gives it another name. "tracebook devices add" adds
one, "tracebook devices remove" ends one.`,
  examples: [['tracebook devices'], ['tracebook devices --json']],
  documents: [
    [
      '{"type":"device","id","kind","login"?,"name"?,"names","sessions","lastUsedAt"?,"current"}',
      'kind: device, codehost',
    ],
  ],
}

/** `tracebook devices list`: the machines and accounts of the user. Output and exit codes in its help. */
export const listCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('list').description('List what signs in as you (default)'), {
    help,
    namespace: false,
    run: async (...args) => (await import('./run/list.ts')).list(...args),
  })
