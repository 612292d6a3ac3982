import { Command } from 'commander'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Prints the token of your login, for scripts that call the API themselves. Whoever has it acts as you until
"tracebook logout": keep it out of files and logs. The server is not asked; "tracebook whoami" says
whether the token is still good. With --namespace: one of a session in that namespace.`,
  examples: [
    ['curl -H "authorization: Bearer $(tracebook token)" \\'],
    ['  "$TRACEBOOK_URL/v1/traces?limit=10"', 'the newest traces'],
    ['TOKEN=$(tracebook token --namespace my-team)', 'writes to my-team'],
  ],
  documents: [['{"type":"token","server","token"}']],
  exitCodes: { 0: 'printed', 1: 'the server refused, or did not answer', 2: 'wrong usage, or not logged in' },
}

/** `tracebook token`: prints the token of the login. Output and exit codes in its help. */
export const tokenCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('token'), {
    help,
    namespace: 'a token of a session in this namespace',
    run: async (...args) => (await import('./run/token.ts')).printToken(...args),
  })
