import { Command } from 'commander'
import { runCommand } from '../../cli/exit.ts'
import type { Databases } from './run/copy.ts'

const help = `
A log is postgres://… or esdb://… (esdb+discover://, kurrentdb://, kurrentdb+discover://), or the
word "embedded": the PostgreSQL under DATA_DIR, which is started for the copy.
Stop the service first: what is written during a copy needs another run. With "embedded" a service
that still runs on DATA_DIR is refused.

  tracebook log copy --from embedded --to esdb://es1:2113?tls=true
  DATA_DIR=/srv/tracebook tracebook log copy --from embedded --to postgres://me@db/tracebook

The target must be empty, or hold a part of this source: a run that was broken off, also
with Ctrl-C, goes on where it stopped. At the end the whole target is read and compared.
Read models are not copied: a service with the new log builds them anew, in a database
that knows nothing of the old one.

The audit tree is in the database, not in the log, and holds leaves of what was erased. It is copied into the
target's database, which must have none, and matched with the copied log: \`tracebook audit verify\` can check it at
once, and names the new log with --accept-log where the source was checked before; with EventStoreDB on either side, name that service's database:

  tracebook log copy --from embedded --to esdb://es1:2113 --target-database postgres://me@db/tracebook

Environment:
  DATA_DIR         the folder of "embedded" (default: data)
  DISK_RESERVE_MB  what a copy to "embedded" leaves free there (default: 256)

Exit codes:
  0  copied and verified
  1  failed, refused (the target holds something else), or stopped before the end
  2  wrong usage`

/** `tracebook log copy` */
export const copyCommand = (): Command =>
  new Command('copy')
    .description('Copy a log from Postgres to EventStoreDB, or back, and verify it')
    .requiredOption('--from <log>', 'the log to read: a URL, or `embedded`')
    .requiredOption('--to <log>', 'the log to write: a URL, or `embedded`')
    .option('--source-database <url>', 'the database of the service whose log is copied from EventStoreDB')
    .option('--target-database <url>', 'the database for the service whose log is copied to EventStoreDB')
    .addHelpText('after', help)
    .action(({ from, to, ...databases }: Databases & { readonly from: string; readonly to: string }) =>
      runCommand(async () => (await import('./run/copy.ts')).copy(from, to, databases)),
    )
