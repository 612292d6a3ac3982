import { Command } from 'commander'
import { exitCodes, exitOnUsage, runCommand } from '../../cli/exit.ts'
import { type CopyProgress, copyLog } from '../../log/copy/copy.ts'
import type { EventLog } from '../../log/log.ts'
import { percentDone } from '../../percent.ts'
import { copyTree } from '../../proof/copy-tree.ts'
import { openLocation } from './open-location.ts'

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
target's database, which must have none; with EventStoreDB on either side, name that service's database:

  tracebook log copy --from embedded --to esdb://es1:2113 --target-database postgres://me@db/tracebook

Environment:
  DATA_DIR         the folder of "embedded" (default: data)
  DISK_RESERVE_MB  what a copy to "embedded" leaves free there (default: 256)

Exit codes:
  0  copied and verified
  1  failed, refused (the target holds something else), or stopped before the end
  2  wrong usage`

const PROGRESS_INTERVAL_MS = 2_000

/** Prints the progress on stderr every two seconds. */
const newProgressPrinter = () => {
  let printedAt = performance.now()
  return ({ events, position, head }: CopyProgress) => {
    if (performance.now() - printedAt < PROGRESS_INTERVAL_MS) return
    printedAt = performance.now()
    console.error(`${events} events, ${percentDone(0n, position, head)} %`)
  }
}

const copyBetween = async (from: EventLog, to: EventLog, signal: AbortSignal): Promise<number> => {
  const { events, before, digest, isComplete } = await copyLog({ from, to, signal, progress: newProgressPrinter() })
  if (!isComplete) {
    console.error(`Stopped after ${events} events. Run it again to go on.`)
    return exitCodes.incomplete
  }
  console.log(`${events} events, ${events - before} of them copied now. Verified: sha256 ${digest}`)
  return exitCodes.ok
}

/** Copies the audit tree where both databases are known; says so where they are not. */
const copyLeaves = async (from: string | undefined, to: string | undefined): Promise<void> => {
  if (from === undefined || to === undefined)
    return console.error(
      'The audit tree was not copied: name the database of the service with --source-database or --target-database.\n' +
        'A service that starts without it begins another tree, which contradicts checkpoints that were published.',
    )
  const leaves = await copyTree(from, to)
  if (leaves > 0) console.log(`${leaves} leaves of the audit tree copied.`)
}

type Databases = { readonly sourceDatabase?: string; readonly targetDatabase?: string }

const copy = async (source: string, target: string, databases: Databases): Promise<number> => {
  if (source === target) throw new Error('source and target are the same')
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  const opened: EventLog[] = []
  const open = async (...parameters: Parameters<typeof openLocation>) => {
    const location = await openLocation(...parameters)
    opened.push(location.log)
    return location
  }
  try {
    const from = await open(source, 'source', stop.signal)
    const to = await open(target, 'target', stop.signal)
    const exitCode = await copyBetween(from.log, to.log, stop.signal)
    if (exitCode === exitCodes.ok)
      await copyLeaves(databases.sourceDatabase ?? from.databaseUrl, databases.targetDatabase ?? to.databaseUrl)
    return exitCode
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    await Promise.all(opened.map((log) => log.close()))
  }
}

/** `tracebook log copy` */
export const copyCommand = (): Command =>
  new Command('copy')
    .description('Copy a log from Postgres to EventStoreDB, or back, and verify it')
    .requiredOption('--from <log>', 'the log to read: a URL, or `embedded`')
    .requiredOption('--to <log>', 'the log to write: a URL, or `embedded`')
    .option('--source-database <url>', 'the database of the service whose log is copied from EventStoreDB')
    .option('--target-database <url>', 'the database for the service whose log is copied to EventStoreDB')
    .addHelpText('after', help)
    .exitOverride(exitOnUsage)
    .action(({ from, to, ...databases }: Databases & { readonly from: string; readonly to: string }) =>
      runCommand(() => copy(from, to, databases)),
    )
