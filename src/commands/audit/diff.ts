import { Command } from 'commander'
import { clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { idHelp } from '../support/id-help.ts'
import { wholeNumber } from './whole-number.ts'
import type { Options } from './run/diff.ts'

const help: Help = {
  about: `
What changed of a trace and its messages between two revisions, for the members of its namespace:
a line for each member that was added, changed or removed, with its new value. Lines are cut to the
width of a terminal, but not in a pipe or a file.

"tracebook audit log <id>" lists the revisions.

${idHelp}`,
  examples: [['tracebook audit diff 0192f0c1 --from 12'], ['tracebook audit diff 0192f0c1 --from 12 --to 40 --json']],
  documents: [
    [
      '{"from","to","patch","messages":{"added":[externalId],"updated":[{"externalId","patch"}]}}',
      'the only one; patch: RFC 6902',
    ],
  ],
  exitCodes: {
    0: 'compared, also when nothing differs',
    1: 'the server refused, or more than 64 MiB differ: compare a part with --to',
    2: 'wrong usage, no such trace or revision, or not logged in',
  },
}

/** `tracebook audit diff` */
export const auditDiffCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('diff')
      .description('Show what changed of a trace between two revisions')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .requiredOption('--from <revision>', 'the revision to begin with', wholeNumber)
      .option('--to <revision>', 'the revision to end with (default: the last one)', wholeNumber),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/diff.ts')).diff(...args),
    },
  )
