import { Command } from 'commander'
import { clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { idHelp } from '../support/id-help.ts'
import { wholeNumber } from './whole-number.ts'
import type { Options } from './run/show.ts'

const help: Help = {
  about: `
A trace as it was after a revision or at a time, for the members of its namespace; without both as it
is now. With --messages its messages of then as well, as "tracebook tail" prints them.

"tracebook audit log <id>" lists the revisions. A time is ISO 8601 with a zone, or milliseconds
since 1970. Of the messages that were written by one request, all are shown.

${idHelp}`,
  examples: [
    ['tracebook audit show 0192f0c1 --revision 12'],
    ['tracebook audit show 0192f0c1 --at 2026-01-31T12:00:00Z --messages'],
    ['tracebook audit show 0192f0c1 --json'],
  ],
  documents: [
    ['{"type":"trace","trace","revision"}', 'the trace, as the API shows it'],
    ['{"type":"message","message"}', 'with --messages, each of them, with its parts'],
  ],
  exitCodes: {
    0: 'shown',
    1: 'the server refused, or did not answer',
    2: 'wrong usage, not logged in, or the trace was not there then',
  },
}

/** `tracebook audit show` */
export const auditShowCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('show')
      .description('Show a trace as it was')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .option('--revision <revision>', 'as it was after this revision', wholeNumber)
      .option('--at <time>', 'as it was at this time')
      .option('--messages', 'with its messages'),
    {
      help,
      namespace: 'the namespace that the trace is in',
      run: async (...args) => (await import('./run/show.ts')).show(...args),
    },
  )
