import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import { environmentHelp } from '../log/environment-help.ts'
import type { Options } from './run/erasures.ts'

const help = `
What the log tells of deleted traces: when, by whom ("system": the service, because the namespace keeps
traces for so many days only), and whether everything they held is erased. A deletion stays in the log for
good, without content. Of earlier deletions of one trace the newest 20 are known, without their messages.

A line of --json: trace {id, externalId}, namespace {id, slug}, createdAt and deletedAt in milliseconds,
deletedBy (the id of a user, or "system"), displayName, messageCount, state ("done" or "pending"), and, for a
pending one, reason and attempts. What is not known is left out.

"done" means that no table and no event has the content any more. How long disks keep its bytes is in
src/erasure/README.md.

Examples:
  tracebook audit erasures
  tracebook audit erasures --pending --json

${environmentHelp}

Exit codes:
  0  listed
  1  the log or the database could not be read
  2  wrong usage`

/** `tracebook audit erasures` */
export const erasuresCommand = (): Command =>
  new Command('erasures')
    .description('List what was deleted, by whom and when, and whether it is erased')
    .option('--json', 'one JSON document a line')
    .option('--pending', 'only what is not erased yet')
    .addHelpText('after', help)
    .action((options: Options) =>
      runCommand(async () => (await import('./run/erasures.ts')).erasures(options), options.json),
    )
