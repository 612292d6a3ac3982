import { Command } from 'commander'
import { clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import type { Options } from './run/remove.ts'

const help: Help = {
  about: `
Ends all sessions of a machine or account of yours, at once, and lets it sign in as you no more: for a
machine that was lost or given away. What it uploaded stays. The last one cannot be removed. You are asked
first; without a terminal nobody can be asked, and --yes is needed.

The device is named by its id, or by the beginning of an id that no other of yours has, as "tracebook
devices" shows it.`,
  examples: [['tracebook devices remove 0192f0c1'], ['tracebook devices remove 0192f0c1 --yes --json', 'in a script']],
  documents: [['{"type":"removed","id","names","current"}', 'current: it was this machine']],
}

/** `tracebook devices remove`: takes a machine or account the right to sign in as the user. Output and exit codes in its help. */
export const removeCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('remove')
      .description('Sign a machine or account out, for good')
      .argument('<id>', 'the device: its id, or the beginning of one')
      .option('-y, --yes', 'agree without being asked'),
    { help, namespace: false, run: async (...args) => (await import('./run/remove.ts')).remove(...args) },
  )
