import { Command } from 'commander'
import { runCommand, exitOnUsage, exitCodes } from '../cli/exit.ts'
import { type CopyProgress, copyLog } from '../log/copy.ts'
import { startScavenge } from '../log/eventstoredb/scavenge.ts'
import type { EventLog } from '../log/log.ts'
import { percentDone } from '../percent.ts'
import { openPlace } from './log/open-location.ts'
import { quarantineCommand } from './log/quarantine.ts'
import { replayCommand } from './log/replay.ts'
import { skipCommand } from './log/skip.ts'

const copyHelp = `
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

Environment:
  DATA_DIR         the folder of "embedded" (default: data)
  DISK_RESERVE_MB  what a copy to "embedded" leaves free there (default: 256)

Exit codes:
  0  copied and verified
  1  failed, refused (the target holds something else), or stopped before the end
  2  wrong usage`

const scavengeHelp = `
Events that were erased leave the disk of EventStoreDB with a scavenge; the log in
Postgres needs none. It runs on in the server. In a cluster, start one on each node,
with the address of that node.

Environment:
  EVENTSTORE_URL  the server, when --url is not given

Exit codes: 0 started, 1 the server refused or did not answer, 2 wrong usage`

const SAY_EVERY_MS = 2_000

/** Says how far it is now and then, on stderr. */
const newProgress = () => {
  let said = performance.now()
  return ({ events, position, head }: CopyProgress) => {
    if (performance.now() - said < SAY_EVERY_MS) return
    said = performance.now()
    console.error(`${events} events, ${percentDone(0n, position, head)} %`)
  }
}

const copyBetween = async (from: EventLog, to: EventLog, signal: AbortSignal): Promise<number> => {
  const { events, before, digest, isComplete } = await copyLog({ from, to, signal, progress: newProgress() })
  if (!isComplete) {
    console.error(`Stopped after ${events} events. Run it again to go on.`)
    return exitCodes.incomplete
  }
  console.log(`${events} events, ${events - before} of them copied now. Verified: sha256 ${digest}`)
  return exitCodes.ok
}

const copy = async (fromPlace: string, toPlace: string): Promise<number> => {
  if (fromPlace === toPlace) throw new Error('source and target are the same')
  const stop = new AbortController()
  const stopping = () => stop.abort()
  process.once('SIGINT', stopping).once('SIGTERM', stopping)
  const opened: EventLog[] = []
  const open = async (...place: Parameters<typeof openPlace>) => {
    const log = await openPlace(...place)
    opened.push(log)
    return log
  }
  try {
    const from = await open(fromPlace, 'source', stop.signal)
    const to = await open(toPlace, 'target', stop.signal)
    return await copyBetween(from, to, stop.signal)
  } finally {
    process.off('SIGINT', stopping).off('SIGTERM', stopping)
    await Promise.all(opened.map((log) => log.close()))
  }
}

const scavenge = async (url: string | undefined): Promise<number> => {
  if (!url) throw new Error('EVENTSTORE_URL is not set, and --url is not given')
  console.log(`Scavenge ${await startScavenge(url)} has started.`)
  return exitCodes.ok
}

const copyCommand = () =>
  new Command('copy')
    .description('Copy a log from Postgres to EventStoreDB, or back, and verify it')
    .requiredOption('--from <log>', 'the log to read: a URL, or `embedded`')
    .requiredOption('--to <log>', 'the log to write: a URL, or `embedded`')
    .addHelpText('after', copyHelp)
    .exitOverride(exitOnUsage)
    .action(({ from, to }: { readonly from: string; readonly to: string }) => runCommand(() => copy(from, to)))

const scavengeCommand = () =>
  new Command('scavenge')
    .description('Free the disk of what has been erased from a log in EventStoreDB')
    .option('--url <url>', 'the server (default: $EVENTSTORE_URL)')
    .addHelpText('after', scavengeHelp)
    .exitOverride(exitOnUsage)
    .action(({ url }: { readonly url?: string }) => runCommand(() => scavenge(url ?? process.env.EVENTSTORE_URL)))

/** `tracebook log`: what is done to a log as a whole. */
export const logCommand = (): Command =>
  new Command('log')
    .description('Copy a log, scavenge it, or see to events that read models cannot apply')
    .exitOverride(exitOnUsage)
    .addCommand(copyCommand())
    .addCommand(scavengeCommand())
    .addCommand(quarantineCommand())
    .addCommand(replayCommand())
    .addCommand(skipCommand())
