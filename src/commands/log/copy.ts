import { UsageError, exitCodes } from '../../cli/exit.ts'
import { atMostEvery, printLines, say, sayLines } from '../../cli/output.ts'
import { stoppable } from '../../cli/interrupt.ts'
import { type CopyProgress, copyLog } from '../../eventstore/log/copy/copy.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { wholeAppends } from '../../eventstore/log/whole-appends.ts'
import { percentDone } from '../../base/for-people.ts'
import { copyTree } from '../../server/proof/copy-tree.ts'
import { matchTree } from '../../server/proof/match-tree.ts'
import { openLocation, type Role } from './open-location.ts'

type Options = {
  readonly from: string
  readonly to: string
  readonly sourceDatabase?: string
  readonly targetDatabase?: string
}

const PROGRESS_INTERVAL_MS = 2_000

/** Prints the progress on stderr every two seconds. */
const newProgressPrinter = () =>
  atMostEvery(PROGRESS_INTERVAL_MS, ({ events, position, head }: CopyProgress) =>
    say(`${events} events, ${percentDone(0n, position, head)} %`),
  )

/** @throws the reason of `signal` if that is aborted */
const copyBetween = async (from: EventLog, to: EventLog, signal: AbortSignal): Promise<void> => {
  let moved = 0
  const { events, before, digest, isComplete } = await copyLog({
    from,
    to,
    signal,
    progress: newProgressPrinter(),
    moved: () => void (moved += 1),
  })
  if (!isComplete) {
    say(`Stopped after ${events} events. Run it again to continue.`)
    throw signal.reason
  }
  await printLines([`${events} events, ${events - before} of them copied now. Verified: sha256 ${digest}`])
  if (moved > 0)
    sayLines(
      `In ${moved} of the streams events have other revisions than in the source. A link with ?revision= to such a trace\n` +
        'may show another moment, or none; links with ?at= show the same as before.',
    )
}

type Tree = { readonly from: string | undefined; readonly to: string | undefined; readonly log: EventLog }

/** Copies the audit tree and compares it with the copied log, if both databases are known. */
const copyLeaves = async ({ from, to, log }: Tree, signal: AbortSignal): Promise<void> => {
  if (from === undefined || to === undefined)
    return sayLines(
      'The audit tree was not copied: give the database of the service with --source-database or --target-database.\n' +
        'A service that starts without the tree begins a new one, which contradicts published checkpoints.',
    )
  const leaves = await copyTree(from, to)
  if (leaves === 0) return
  await matchTree(to, wholeAppends(log), signal)
  await printLines([`Copied ${leaves} leaves of the audit tree.`])
}

export const copy = ({ from: source, to: target, ...databases }: Options): Promise<number> => {
  if (source === target) throw new UsageError('--from and --to are the same log: give two different ones.')
  return stoppable(async (signal) => {
    const opened: EventLog[] = []
    const open = async (location: string, role: Role) => {
      const place = await openLocation(location, role, signal)
      opened.push(place.log)
      return place
    }
    try {
      const from = await open(source, 'source')
      const to = await open(target, 'target')
      await copyBetween(from.log, to.log, signal)
      const { sourceDatabase = from.databaseUrl, targetDatabase = to.databaseUrl } = databases
      await copyLeaves({ from: sourceDatabase, to: targetDatabase, log: to.log }, signal)
      return exitCodes.ok
    } finally {
      await Promise.all(opened.map((log) => log.close()))
    }
  })
}
