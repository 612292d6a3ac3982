import { Command } from 'commander'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Makes a trace private again: only members of its namespace can read it then, its link leads nowhere for
anybody else, and it is gone from the public feed. Copies that were made meanwhile cannot be taken back.

${idHelp}`,
  examples: [['tracebook unshare 0192f0c1'], ['tracebook unshare 0192f0c1 --json', 'for scripts']],
  documents: [['{"type":"unshare","externalId","namespace","visibility"}', 'visibility: private']],
}

/** `tracebook unshare`: makes a trace private. Output and exit codes in its help. */
export const unshareCommand = (): Command =>
  clientCommand<ClientOptions, [string]>(
    new Command('unshare').argument('<id>', 'the trace: its id, the beginning of one, or a link'),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/unshare.ts')).unshare(...args),
    },
  )
