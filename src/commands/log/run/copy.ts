import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { stoppable } from '../../../cli/interrupt.ts'
import { type CopyProgress, copyLog } from '../../../log/copy/copy.ts'
import type { EventLog } from '../../../log/log.ts'
import { percentDone } from '../../../percent.ts'
import { copyTree } from '../../../proof/copy-tree.ts'
import { openLocation, type Role } from '../open-location.ts'
import type { Databases } from '../copy.ts'

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

/** @throws the reason of `signal`, when that ended it */
const copyBetween = async (from: EventLog, to: EventLog, signal: AbortSignal): Promise<void> => {
  const { events, before, digest, isComplete } = await copyLog({ from, to, signal, progress: newProgressPrinter() })
  if (!isComplete) {
    console.error(`Stopped after ${events} events. Run it again to go on.`)
    throw signal.reason
  }
  console.log(`${events} events, ${events - before} of them copied now. Verified: sha256 ${digest}`)
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

export const copy = (source: string, target: string, databases: Databases): Promise<number> => {
  if (source === target) throw new UsageError('source and target are the same')
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
      await copyLeaves(databases.sourceDatabase ?? from.databaseUrl, databases.targetDatabase ?? to.databaseUrl)
      return exitCodes.ok
    } finally {
      await Promise.all(opened.map((log) => log.close()))
    }
  })
}
