import { exitCodes } from '../../cli/exit.ts'
import type { SessionFile } from '../agents/session-files.ts'
import type { Summary } from '../report/events.ts'
import type { SyncJob } from './sync-session.ts'
import { syncSources } from './sync-sources.ts'

/**
 * Uploads the sessions of `files` (`syncSources`) and reports the summary of the run, which it returns. `unreadable` is how many
 * files and folders could not be searched; they count as failed.
 */
export const syncFiles = async (job: SyncJob, files: readonly SessionFile[], unreadable: number): Promise<Summary> => {
  const { byStatus, counts, stopReason } = await syncSources(job, files)
  const { leftOut: leftOutMessages, ...tally } = counts
  const failed = byStatus.failed + unreadable
  const incomplete = failed + tally.skippedLines + leftOutMessages > 0
  const summary: Summary = {
    type: 'summary',
    dryRun: job.dryRun,
    ...byStatus,
    failed,
    ...tally,
    leftOutMessages,
    ...(stopReason ? { stopped: stopReason.why } : {}),
    exitCode: stopReason?.exitCode ?? (incomplete ? exitCodes.incomplete : exitCodes.ok),
  }
  job.report(summary)
  return summary
}
