import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { type CopyProgress, copyLog } from '../../../log/copy/copy.ts'
import type { EventLog } from '../../../log/log.ts'
import { percentDone } from '../../../percent.ts'
import { copyTree } from '../../../proof/copy-tree.ts'
import { openLocation } from '../open-location.ts'
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

const copyBetween = async (from: EventLog, to: EventLog, signal: AbortSignal): Promise<number> => {
  const { events, before, digest, isComplete } = await copyLog({ from, to, signal, progress: newProgressPrinter() })
  if (!isComplete) {
    console.error(`Stopped after ${events} events. Run it again to go on.`)
    return exitCodes.failed
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

export const copy = async (source: string, target: string, databases: Databases): Promise<number> => {
  if (source === target) throw new UsageError('source and target are the same')
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
