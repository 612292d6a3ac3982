import { commandName } from '../../cli/command-name.ts'
import { errorMessage, exitCodes } from '../../cli/exit.ts'
import { hasStatus, isTemporary } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import type { FileStatus, Summary } from '../report/events.ts'
import { type SyncJob, syncFile } from './sync-file.ts'
import { type FileCounts, newFileCounts } from './targets.ts'

/** The result of one file. With `stopReason` the run ends here, with that exit code: all files after it would fail too. */
type FileResult = {
  readonly status: FileStatus
  readonly stopReason?: { readonly why: string; readonly exitCode: number }
}

const describeFailure = (error: unknown, { namespaceSlug }: Connection): string => {
  if (hasStatus(error, 403))
    return `you may not write this session in the namespace ${namespaceSlug}: another user uploaded it (${error.message})`
  if (hasStatus(error, 404)) return `the trace is not there any more, or not yours to write (${error.message})`
  return errorMessage(error)
}

const stopReasonOf = (error: unknown): Pick<FileResult, 'stopReason'> => {
  if (hasStatus(error, 401))
    return {
      stopReason: { why: `your session has ended. Log in again: ${commandName} login`, exitCode: exitCodes.usage },
    }
  if (!isTemporary(error)) return {}
  const why = `${errorMessage(error)}. Run the command again to go on where it stopped.`
  return { stopReason: { why, exitCode: exitCodes.incomplete } }
}

const syncAndReport = async (job: SyncJob, file: string, counts: FileCounts): Promise<FileResult> => {
  const tally = () => ({ messages: counts.messages, new: counts.new, updated: counts.updated })
  try {
    const { externalId, status } = await syncFile(job, file, counts)
    job.report({ type: 'session', file, externalId, status, ...tally() })
    return { status }
  } catch (error) {
    const message = describeFailure(error, job.connection)
    job.report({ type: 'problem', kind: 'session_failed', file, message })
    job.report({ type: 'session', file, status: 'failed', ...tally() })
    return { status: 'failed', ...stopReasonOf(error) }
  }
}

/**
 * Uploads `files` one after the other and reports each. Goes on after a file that fails, unless the server cannot be reached
 * or the session has ended. `unreadable` is how many files and folders could not be searched; they count as failed. Returns
 * the summary that was reported last.
 */
export const syncFiles = async (job: SyncJob, files: readonly string[], unreadable: number): Promise<Summary> => {
  const totals = newFileCounts()
  const filesByStatus: Record<FileStatus, number> = {
    synced: 0,
    unchanged: 0,
    empty: 0,
    deleted: 0,
    failed: unreadable,
  }
  let last: FileResult | undefined
  for (const file of files) {
    const fileCounts = newFileCounts()
    last = await syncAndReport(job, file, fileCounts)
    filesByStatus[last.status]++
    for (const key of Object.keys(fileCounts) as (keyof FileCounts)[]) totals[key] += fileCounts[key]
    if (last.stopReason) break
  }
  const { leftOut: leftOutMessages, ...counts } = totals
  const incomplete = filesByStatus.failed + counts.skippedLines + leftOutMessages > 0
  const summary: Summary = {
    type: 'summary',
    dryRun: job.dryRun,
    ...filesByStatus,
    ...counts,
    leftOutMessages,
    ...(last?.stopReason ? { stopped: last.stopReason.why } : {}),
    exitCode: last?.stopReason?.exitCode ?? (incomplete ? exitCodes.incomplete : exitCodes.ok),
  }
  job.report(summary)
  return summary
}
