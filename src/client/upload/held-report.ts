import type { SyncEvent } from '../report/events.ts'
import type { FileProgress } from './file-progress.ts'
import type { Run } from './run.ts'
import type { SessionReport } from './session-report.ts'

/** The losses of one session to report. A loss that could not be stored is reported again by the next run. */
const lossesOf = ({ origins, force, dryRun }: Run, agentId: string) => {
  const pending = new Set<string>()
  const newLosses: SessionReport['newLosses'] = (losses) => {
    const found = (force ? losses : origins.newLosses(agentId, losses)).filter((loss) => !pending.has(loss))
    for (const loss of found) pending.add(loss)
    return found
  }
  const told = () => {
    if (!dryRun && pending.size > 0) origins.noteReported(agentId, [...pending])
  }
  return { newLosses, told }
}

/** Reports about a session have its title, which is known after it was read. */
export const withTitle = (event: SyncEvent, title: string | undefined): SyncEvent =>
  title !== undefined && (event.type === 'problem' || event.type === 'notice') ? { ...event, title } : event

/**
 * The reports about one session are held back until its end, because those of others would be mixed with them otherwise; its progress is not.
 * `tell` makes them, and notes the losses as reported; throws StateFailed if that cannot be noted.
 */
export const newHeldReport = (run: Run, agentId: string, progress: FileProgress) => {
  const events: SyncEvent[] = []
  const losses = lossesOf(run, agentId)
  const report = (event: SyncEvent) => {
    if (event.type !== 'progress') return void events.push(event)
    run.report({ ...event, bytes: 0 })
    progress.sent(event.bytes)
  }
  const tell = (title: string | undefined) => {
    for (const event of events.splice(0)) run.report(withTitle(event, title))
    losses.told()
  }
  return { report, newLosses: losses.newLosses, tell }
}
