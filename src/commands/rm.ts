import { Command } from 'commander'
import { clientCommand } from './support/client-command.ts'
import { idHelp } from './support/id-help.ts'
import type { Help } from './support/help.ts'
import type { Options } from './run/rm.ts'

const help: Help = {
  about: `
Deletes traces with all their messages. What they held is erased on the server for good: nobody can bring
it back. You are asked first; without a terminal nobody can be asked, and --yes is needed. All are looked
up before the first is deleted.

The sessions on this machine stay, and "tracebook sync" does not upload them again without --force. So a
secret that is up already is taken out by deleting the trace here, and then uploading it again with
"tracebook sync --force": what the rules for secrets know is taken out of it, and its past is gone.

${idHelp}`,
  examples: [
    ['tracebook rm 0192f0c1'],
    ['tracebook rm 0192f0c1 0192f0c7', 'two of them'],
    ['tracebook rm 0192f0c1 --yes --json', 'in a script'],
  ],
  documents: [['{"type":"removed","externalId","namespace","messages"}', 'for each that was deleted']],
}

/** `tracebook rm`: deletes traces, after a yes. Output and exit codes in its help. */
export const rmCommand = (): Command =>
  clientCommand<Options, [readonly string[]]>(
    new Command('rm')
      .argument('<id...>', 'the traces: their ids, the beginnings of ids, or links')
      .option('-y, --yes', 'agree without being asked'),
    {
      help,
      namespace: 'the namespace that the traces are in',
      run: async (...args) => (await import('./run/rm.ts')).rm(...args),
    },
  )
