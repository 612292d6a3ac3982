import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/share.ts'

const help: Help = {
  about: `
Makes a trace public, and prints the link to it: everyone who reaches the server can read it then, also
without a login, and finds it in the public feed. What will be seen is shown first, and you are asked;
without a terminal nobody can be asked, and --yes is needed. "tracebook unshare" takes it back.

${idHelp}`,
  examples: [
    ['tracebook share 0192f0c1'],
    ['tracebook share 0192f0c1 --yes --json', 'in a script that has looked at it'],
  ],
  documents: [['{"type":"share","externalId","namespace","visibility","url"}', 'visibility: public']],
}

/** `tracebook share`: makes a trace public, after a yes. Output and exit codes in its help. */
export const shareCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('share')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .option('-y, --yes', 'agree without being asked'),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/share.ts')).share(...args),
    },
  )
