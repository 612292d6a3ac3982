import { Command, InvalidArgumentError, Option } from 'commander'
import { clientCommand } from './support/client-command.ts'
import type { Help } from './support/help.ts'
import { beginningOf, endOf } from './support/moment.ts'
import type { Options, SortName } from './run/ls.ts'

const help: Help = {
  about: `
Lists the traces of your namespace, or with --namespace of another one, those of the newest sessions first:
all of them for its members, else the public ones. "when" is when the session began; where that is not
known, and with --public and no namespace, when it was uploaded. With --public only what everyone can read: of all namespaces, or of the
one that is named; that needs no login. In a namespace of several members, "author" is who has uploaded it:
their name, else the beginning of their id.

On a terminal the ids of your own namespace are as short as they can be to tell the listed traces apart;
"tracebook show" and the other commands take them so. In a pipe or a file nothing is cut.`,
  examples: [
    ['tracebook ls', 'your 50 newest traces'],
    ['tracebook ls --project shop --agent codex --limit 10'],
    ['tracebook ls --since 7d', 'sessions of the last week'],
    ['tracebook ls --since 2026-01-01 --until 2026-01-31', 'those of January'],
    ['tracebook ls --sort updated', 'what was written last'],
    ['tracebook ls --namespace team', 'those of a team'],
    ['tracebook ls --public', 'what everyone can read'],
    ['tracebook ls --limit 1000 --json | jq -r .trace.externalId', 'for scripts'],
  ],
  documents: [['{"type":"trace","trace"}', 'a trace, as the API lists it']],
}

const sortNames = ['started', 'created', 'updated'] as const satisfies readonly SortName[]

const limitOf = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0 on.')
  return Number(text)
}

/** `tracebook ls`: lists traces. Output and exit codes in its help. */
export const lsCommand = (): Command =>
  clientCommand<Options>(
    new Command('ls')
      .option('-n, --limit <count>', 'at most so many', limitOf, 50)
      .option('--project <name>', 'only those of the project with this name')
      .option('--agent <id>', 'only those of this agent, such as claude-code or codex')
      .option('--since <time>', 'only those since a day, a time, or for a span such as 7d', beginningOf)
      .option('--until <time>', 'only those before a time, or up to the end of a day', endOf)
      .addOption(
        new Option(
          '--sort <by>',
          'by when sessions were started, created here, or updated last (default: started)',
        ).choices(sortNames),
      )
      .option('--public', 'only what everyone can read'),
    { help, run: async (...args) => (await import('./run/ls.ts')).ls(...args) },
  )
