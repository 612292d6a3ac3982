import { commandName } from '../../cli/command-name.ts'
import { errorMessage, exitCodes } from '../../cli/exit.ts'
import type { Agent, StoredSession } from '../agents/agent.ts'
import type { SessionFile } from '../agents/session-files.ts'
import { hasStatus, isTemporary } from '../api/errors.ts'
import type { FileStatus, Tally } from '../report/events.ts'
import { newSessionRun, type SessionRun, type SyncJob, syncSession } from './sync-session.ts'
import { type FileCounts, newFileCounts } from './targets.ts'

/** Why a run ended before its last session, and the exit code: all sessions after it would fail too. */
export type StopReason = { readonly why: string; readonly exitCode: number }

type SessionResult = { readonly status: FileStatus; readonly stopReason?: StopReason }

/** What became of some sources: sessions by their status, and what was counted in them. */
export type SyncResult = {
  readonly byStatus: Readonly<Record<FileStatus, number>>
  readonly counts: FileCounts
  readonly stopReason?: StopReason | undefined
}

const describeFailure = (error: unknown, namespaceSlug: string | undefined): string => {
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

const failed = (job: SyncJob, file: string, error: unknown, run = newSessionRun()): SessionResult => {
  const message = describeFailure(error, run.destination?.connection.namespaceSlug)
  job.report({ type: 'problem', kind: 'session_failed', file, message })
  job.report({ type: 'session', file, status: 'failed', ...tallyOf(run.counts) })
  return { status: 'failed', ...stopReasonOf(error) }
}

const syncAndReport = async (
  job: SyncJob,
  agent: Agent,
  session: StoredSession,
  run: SessionRun,
): Promise<SessionResult> => {
  try {
    const { externalId, status } = await syncSession(job, agent, session, run)
    job.report({
      type: 'session',
      file: session.source,
      ...(externalId === undefined ? {} : { externalId }),
      status,
      ...tallyOf(run.counts),
    })
    return { status }
  } catch (error) {
    return failed(job, session.source, error, run)
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
        const run = newSessionRun()
        const result = await syncAndReport(job, agent, session, run)
        yield { ...result, counts: run.counts }
        if (result.stopReason) return
      }
    } catch (error) {
      yield { ...failed(job, path, error), counts: newFileCounts() }
    }
  }
}

/**
 * Uploads what is new in the sessions of `files` and reports each; unchanged ones are not read. Goes on after one that fails,
 * unless the server cannot be reached or the session of the login has ended. A job may be used again and again.
 */
export const syncSources = async (job: SyncJob, files: readonly SessionFile[]): Promise<SyncResult> => {
  const totals = newFileCounts()
  const byStatus: Record<FileStatus, number> = {
    synced: 0,
    unchanged: 0,
    empty: 0,
    deleted: 0,
    excluded: 0,
    failed: 0,
  }
  let stopReason: StopReason | undefined
  for await (const { counts, ...result } of results(job, files)) {
    stopReason = result.stopReason
    byStatus[result.status]++
    for (const key of Object.keys(counts) as (keyof FileCounts)[]) totals[key] += counts[key]
  }
  return { byStatus, counts: totals, stopReason }
}
