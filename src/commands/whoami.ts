import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { nameFrom } from './support/given-name.ts'
import type { Options } from './run/whoami.ts'

const help: Help = {
  about: `
Says who this machine is logged in as: the user, the active namespace with your role in it, and until
when. The server is asked, so it also tells whether the login is still good. With --set-name you get that name
first: it stands beside what you share, and the members of your namespaces see it.`,
  examples: [
    ['tracebook whoami'],
    ['tracebook whoami --set-name "Ada Lovelace"'],
    ['tracebook whoami --server https://traces.example.org'],
    ['tracebook whoami --json | jq -r .namespace.slug', 'for a script'],
  ],
  documents: [['{"type":"whoami","server","user","namespace"?,"role"?,"session"}', 'as GET /v1/session shows them']],
  exitCodes: { 0: 'logged in', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
}

/** `tracebook whoami`: says who this machine is logged in as. Output and exit codes in its help. */
export const whoamiCommand = (): Command =>
  clientCommand<Options>(
    new Command('whoami').option('--set-name <name>', 'give yourself this name, which others see', nameFrom),
    { help, namespace: false, run: async (...args) => (await import('./run/whoami.ts')).whoami(...args) },
  )
