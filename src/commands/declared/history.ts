import { Command } from 'commander'
import { entryTypes } from '../../contract/entry-types.ts'
import { clientCommand } from './command.ts'
import { idHelp, traceArgument } from './help.ts'
import { wholeNumber } from './values.ts'

// Those of `tracebook audit` that are clients of a service.

const ITS_NAMESPACE = 'the namespace that the trace is in'

const count = wholeNumber(15)

const TYPES_PER_LINE = 5

const typesText = (): string =>
  Array.from({ length: Math.ceil(entryTypes.length / TYPES_PER_LINE) }, (_, line) =>
    entryTypes.slice(line * TYPES_PER_LINE, (line + 1) * TYPES_PER_LINE).join(', '),
  ).join(',\n  ')

export const log = (): Command =>
  clientCommand(
    new Command('log')
      .description('List or follow who did what to a trace or in a namespace')
      .argument('[id]', `${traceArgument} (default: the whole namespace, for its admins)`)
      .option('--type <types>', 'only entries of these types, separated by commas')
      .option('--actor <user>', 'only what the user with this id did')
      .option('--from <time>', 'only what happened at this time or later')
      .option('--to <time>', 'only what happened before this time')
      .option('--limit <count>', 'list at most this many entries', count)
      .option('--desc', 'list the newest first')
      .option('-f, --follow', 'continue with new entries until Ctrl-C'),
    {
      help: {
        about: `
Lists who did what, and when, one line per entry: for a trace, if you are a member of its namespace; without
an id for the whole namespace, including deleted traces, if you are its admin. The oldest entry comes first.

A line: time, revision, who, in the log of a namespace the trace ("-": the namespace itself), and what
happened. "tracebook audit show" and "diff" take the revision. A time is ISO 8601 with a time zone, or
milliseconds since 1970; --from is inclusive, --to is exclusive.

--follow shows the existing entries, with --limit only the newest, and then each entry as it comes, until
Ctrl-C. A lost connection is re-established, and no entry is missed or shown twice.

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
          2: 'wrong usage, no such trace, not logged in, or logged out since',
        },
      },
      load: async () => (await import('../audit/log.ts')).showLog,
    },
  )

export const show = (): Command =>
  clientCommand(
    new Command('show')
      .description('Show a trace as it was')
      .argument('<id>', traceArgument)
      .option('--revision <revision>', 'as it was at this revision', count)
      .option('--at <time>', 'as it was at this time')
      .option('--messages', 'with its messages'),
    {
      help: {
        about: `
Shows a trace as it was at a revision or a time, if you are a member of its namespace; without both as it is
now. --messages also shows the messages it had then, in the format of "tracebook tail".

"tracebook audit log <id>" lists the revisions. A time is ISO 8601 with a time zone, or milliseconds
since 1970. Of messages that were written by one request, all are shown.

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
          2: 'wrong usage, not logged in, or the trace did not exist then',
        },
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../audit/show.ts')).show,
    },
  )

export const diff = (): Command =>
  clientCommand(
    new Command('diff')
      .description('Show what changed in a trace between two revisions')
      .argument('<id>', traceArgument)
      .requiredOption('--from <revision>', 'the first revision', count)
      .option('--to <revision>', 'the second revision (default: the last one)', count),
    {
      help: {
        about: `
Shows what changed in a trace and its messages between two revisions, if you are a member of its namespace:
a line for each property that was added, changed or removed, with its new value. Lines are cut to the
width of a terminal, but not in a pipe or a file.

"tracebook audit log <id>" lists the revisions.

${idHelp}`,
        examples: [
          ['tracebook audit diff 0192f0c1 --from 12'],
          ['tracebook audit diff 0192f0c1 --from 12 --to 40 --json'],
        ],
        documents: [
          [
            '{"from","to","patch","messages":{"added":[externalId],"updated":[{"externalId","patch"}]}}',
            'the only one; patch: RFC 6902',
          ],
        ],
        exitCodes: {
          0: 'compared, also if nothing differs',
          1: 'the server refused, or more than 64 MiB differ: compare fewer revisions with --to',
          2: 'wrong usage, no such trace or revision, or not logged in',
        },
      },
      namespace: ITS_NAMESPACE,
      load: async () => (await import('../audit/diff.ts')).diff,
    },
  )
