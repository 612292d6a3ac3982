import { Command } from 'commander'
import { entryTypes } from '../../contract/entry-types.ts'
import { clientCommand } from '../support/client-command.ts'
import type { Help } from '../support/help.ts'
import { idHelp } from '../support/id-help.ts'
import { wholeNumber } from './whole-number.ts'
import type { Options } from './run/log.ts'

const TYPES_A_LINE = 5

const typesText = (): string =>
  Array.from({ length: Math.ceil(entryTypes.length / TYPES_A_LINE) }, (_, line) =>
    entryTypes.slice(line * TYPES_A_LINE, (line + 1) * TYPES_A_LINE).join(', '),
  ).join(',\n  ')

const help: Help = {
  about: `
Who did what, and when, on one line each: of a trace for the members of its namespace, without an
id of the whole namespace, deleted traces included, for its admins. The oldest comes first.

A line: time, revision, who, in the log of a namespace the trace ("-": the namespace itself), and what
happened. The revision is what "tracebook audit show" and "diff" take. A time is ISO 8601 with a zone, or
milliseconds since 1970; --from is included, --to is not.

--follow shows what is there, with --limit the newest so many, and then each entry as it comes, until
Ctrl-C. A lost connection is made again, and nothing is missed or shown twice.

${idHelp}

Types: ${typesText()}`,
  examples: [
    ['tracebook audit log'],
    ['tracebook audit log --type TraceDeleted,MemberRemoved --from 2026-01-01T00:00:00Z'],
    ['tracebook audit log 0192f0c1 --desc --limit 20'],
    ['tracebook audit log 0192f0c1 --follow --json'],
  ],
  documents: [
    [
      '{"revision","type","at","actor"?,"text","trace"?,"messages"?,"patch"?,"requestId"?,…}',
      'an entry, as the API shows it (TimelineEntry); at: milliseconds since 1970',
    ],
  ],
  exitCodes: {
    0: 'listed, or ended by Ctrl-C',
    1: 'the server refused',
    2: 'wrong usage, no such trace, not logged in, or logged out meanwhile',
  },
}

/** `tracebook audit log` */
export const auditLogCommand = (): Command =>
  clientCommand<Options, [string | undefined]>(
    new Command('log')
      .description('List or follow who did what to a trace or in a namespace')
      .argument(
        '[id]',
        'the trace: its id, the beginning of one, or a link (default: all of the namespace, for its admins)',
      )
      .option('--type <types>', 'only entries of these types, separated by commas')
      .option('--actor <user>', 'only what the user with this id did')
      .option('--from <time>', 'only what happened at this time or later')
      .option('--to <time>', 'only what happened before this time')
      .option('--limit <count>', 'at most so many entries', wholeNumber)
      .option('--desc', 'the newest first')
      .option('-f, --follow', 'go on with what comes'),
    {
      help,
      namespace: 'the namespace (default: that of your login)',
      run: async (...args) => (await import('./run/log.ts')).showLog(...args),
    },
  )
