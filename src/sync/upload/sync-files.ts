import { command } from '../../cli/command-name.ts'
import type { Connection } from '../login/connect.ts'
import { messageOf, exitCodes } from '../../cli/exit.ts'
import { hasStatus, isTemporary } from '../api/errors.ts'
import type { FileStatus, Summary } from '../report/events.ts'
import { type Job, syncFile } from './sync-file.ts'
import { type Counter, newCounter } from './targets.ts'

/** How one file ended. `stopped`: why the files after it need not be tried, and the exit code that this means. */
type Ending = { readonly status: FileStatus; readonly stopped?: { readonly why: string; readonly exitCode: number } }

const failureText = (error: unknown, { namespaceSlug }: Connection): string => {
  if (hasStatus(error, 403))
    return `you may not write this session in the namespace ${namespaceSlug}: somebody else uploaded it (${error.message})`
  if (hasStatus(error, 404)) return `the trace is not there any more, or not yours to write (${error.message})`
  return messageOf(error)
}

const stopped = (error: unknown): Pick<Ending, 'stopped'> => {
  if (hasStatus(error, 401))
    return { stopped: { why: `your session has ended. Log in again: ${command} login`, exitCode: exitCodes.usage } }
  if (!isTemporary(error)) return {}
  const why = `${messageOf(error)}. Run the command again to go on where it stopped.`
  return { stopped: { why, exitCode: exitCodes.incomplete } }
}

const syncOne = async (job: Job, file: string, counter: Counter): Promise<Ending> => {
  const tally = () => ({ messages: counter.messages, new: counter.new, updated: counter.updated })
  try {
    const { externalId, status } = await syncFile(job, file, counter)
    job.report({ type: 'session', file, externalId, status, ...tally() })
    return { status }
  } catch (error) {
    const message = failureText(error, job.connection)
    job.report({ type: 'problem', kind: 'session_failed', file, message })
    job.report({ type: 'session', file, status: 'failed', ...tally() })
    return { status: 'failed', ...stopped(error) }
  }
}

/**
 * Syncs `files` one after the other and reports each; a failure of one keeps none of the others out, unless the server is
 * out of reach or the session has ended. `unreadable`: how many places could not be searched; they count as failed.
 */
export const syncFiles = async (job: Job, files: readonly string[], unreadable: number): Promise<Summary> => {
  const counter = newCounter()
  const ends: Record<FileStatus, number> = { synced: 0, unchanged: 0, empty: 0, deleted: 0, failed: unreadable }
  let last: Ending | undefined
  for (const file of files) {
    const own = newCounter()
    last = await syncOne(job, file, own)
    ends[last.status]++
    for (const key of Object.keys(own) as (keyof Counter)[]) counter[key] += own[key]
    if (last.stopped) break
  }
  const { leftOut: leftOutMessages, ...counts } = counter
  const incomplete = ends.failed + counts.skippedLines + leftOutMessages > 0
  const summary: Summary = {
    type: 'summary',
    dryRun: job.dryRun,
    ...ends,
    ...counts,
    leftOutMessages,
    ...(last?.stopped ? { stopped: last.stopped.why } : {}),
    exitCode: last?.stopped?.exitCode ?? (incomplete ? exitCodes.incomplete : exitCodes.ok),
  }
  job.report(summary)
  return summary
}
