import { Command } from 'commander'
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

/** `tracebook devices add`: makes a code for another machine. Output and exit codes in its help. */
export const addCommand = (): Command =>
  clientCommand<ClientOptions>(new Command('add').description('Make a code by which another machine becomes yours'), {
    help,
    namespace: false,
    run: async (...args) => (await import('./run/add.ts')).add(...args),
  })
