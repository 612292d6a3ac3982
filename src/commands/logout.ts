import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/logout.ts'

const help: Help = {
  about: `
Ends this machine's sessions on the server and removes their tokens. The machine stays a device of yours:
"tracebook login" makes you the same user again, and "tracebook devices remove" takes that away too. What
was uploaded stays. When the server does not answer, the tokens are kept, unless --force is given.`,
  examples: [
    ['tracebook logout'],
    ['tracebook logout --all', 'of every server that this machine is logged in to'],
    ['tracebook logout --force', 'a server that is gone'],
  ],
  documents: [['{"type":"logout","server","result"}', 'for each server; result: ended, forgotten, not logged in']],
  exitCodes: {
    0: 'logged out, or not logged in before',
    1: 'a server refused, or did not answer',
    2: 'wrong usage',
  },
}

/** `tracebook logout`: ends the login of a server. Output and exit codes in its help. */
export const logoutCommand = (): Command =>
  clientCommand<Options>(
    new Command('logout')
      .option('--all', 'log out of every server')
      .option('--force', 'remove the tokens also when the server does not answer'),
    { help, namespace: false, run: async (...args) => (await import('./run/logout.ts')).logout(...args) },
  )
