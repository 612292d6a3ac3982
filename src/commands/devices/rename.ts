import { Command } from 'commander'
import { type ClientOptions, clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { nameFrom } from '../support/given-name.ts'

const help: Help = {
  about: `
Gives a machine or account of yours a name, instead of that of its host. Only you see it. The device is named
by its id, or by the beginning of an id that no other of yours has, as "tracebook devices" shows it.`,
  examples: [
    ['tracebook devices rename 0192f0c1 "laptop at home"'],
    ['tracebook devices rename 0192f0c1 laptop --json', 'in a script'],
  ],
  documents: [['{"type":"renamed","id","name"}', 'the device, as it is called now']],
}

/** `tracebook devices rename`: names a machine or account of the user. Output and exit codes in its help. */
export const renameCommand = (): Command =>
  clientCommand<ClientOptions, [string, string]>(
    new Command('rename')
      .description('Name a machine or account')
      .argument('<id>', 'the device: its id, or the beginning of one')
      .argument('<name>', 'what you call it', nameFrom),
    { help, namespace: false, run: async (...args) => (await import('./run/rename.ts')).rename(...args) },
  )
