import { commandName } from '../../cli/command-name.ts'
import { errorMessage, exitCodes } from '../../cli/exit.ts'
import type { Agent, StoredSession } from '../agents/agent.ts'
import type { SessionFile } from '../agents/session-files.ts'
import { hasStatus, isTemporary } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import type { FileStatus, Summary, Tally } from '../report/events.ts'
import { type SyncJob, syncSession } from './sync-session.ts'
import { type FileCounts, newFileCounts } from './targets.ts'

/** The result of one session. With `stopReason` the run ends here, with that exit code: all sessions after it would fail too. */
type SessionResult = {
  readonly status: FileStatus
  readonly stopReason?: { readonly why: string; readonly exitCode: number }
}

const describeFailure = (error: unknown, { namespaceSlug }: Connection): string => {
  if (hasStatus(error, 403))
    return `you may not write this session in the namespace ${namespaceSlug}: another user uploaded it (${error.message})`
  if (hasStatus(error, 404)) return `the trace is not there any more, or not yours to write (${error.message})`
  return errorMessage(error)
}

const stopReasonOf = (error: unknown): Pick<SessionResult, 'stopReason'> => {
  if (hasStatus(error, 401))
    return {
      stopReason: { why: `your session has ended. Log in again: ${commandName} login`, exitCode: exitCodes.usage },
    }
  if (!isTemporary(error)) return {}
  const why = `${errorMessage(error)}. Run the command again to go on where it stopped.`
  return { stopReason: { why, exitCode: exitCodes.incomplete } }
}

const tallyOf = ({ messages, new: created, updated }: FileCounts): Tally => ({ messages, new: created, updated })

const failed = (job: SyncJob, file: string, error: unknown, counts = newFileCounts()): SessionResult => {
  const message = describeFailure(error, job.connection)
  job.report({ type: 'problem', kind: 'session_failed', file, message })
  job.report({ type: 'session', file, status: 'failed', ...tallyOf(counts) })
  return { status: 'failed', ...stopReasonOf(error) }
}

const syncAndReport = async (
  job: SyncJob,
  agent: Agent,
  session: StoredSession,
  counts: FileCounts,
): Promise<SessionResult> => {
  try {
    const { externalId, status } = await syncSession(job, agent, session, counts)
    job.report({ type: 'session', file: session.source, externalId, status, ...tallyOf(counts) })
    return { status }
  } catch (error) {
    return failed(job, session.source, error, counts)
  }
}

/** Uploads the sessions of all files, one after the other, until one has a reason to stop. */
async function* results(
  job: SyncJob,
  files: readonly SessionFile[],
): AsyncGenerator<SessionResult & { readonly counts: FileCounts }> {
  for (const { path, agent } of files) {
    try {
      for await (const session of agent.sessions(path)) {
        const counts = newFileCounts()
        const result = await syncAndReport(job, agent, session, counts)
        yield { ...result, counts }
        if (result.stopReason) return
      }
    } catch (error) {
      yield { ...failed(job, path, error), counts: newFileCounts() }
    }
  }
}

/**
 * Uploads the sessions of `files` one after the other and reports each. Goes on after one that fails, unless the server cannot
 * be reached or the session of the login has ended. `unreadable` is how many files and folders could not be searched; they
 * count as failed. Returns the summary that was reported last.
 */
export const syncFiles = async (job: SyncJob, files: readonly SessionFile[], unreadable: number): Promise<Summary> => {
  const totals = newFileCounts()
  const byStatus: Record<FileStatus, number> = {
    synced: 0,
    unchanged: 0,
    empty: 0,
    deleted: 0,
    failed: unreadable,
  }
  let last: SessionResult | undefined
  for await (const { counts, ...result } of results(job, files)) {
    last = result
    byStatus[result.status]++
    for (const key of Object.keys(counts) as (keyof FileCounts)[]) totals[key] += counts[key]
  }
  const { leftOut: leftOutMessages, ...counts } = totals
  const incomplete = byStatus.failed + counts.skippedLines + leftOutMessages > 0
  const summary: Summary = {
    type: 'summary',
    dryRun: job.dryRun,
    ...byStatus,
    ...counts,
    leftOutMessages,
    ...(last?.stopReason ? { stopped: last.stopReason.why } : {}),
    exitCode: last?.stopReason?.exitCode ?? (incomplete ? exitCodes.incomplete : exitCodes.ok),
  }
  job.report(summary)
  return summary
}
