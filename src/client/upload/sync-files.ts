import v8 from 'node:v8'
import { exitCodes } from '../../cli/exit.ts'
import { type SessionFile, totalSize } from '../agents/session-files.ts'
import type { Reporter, Summary, SyncEvent } from '../report/events.ts'
import { newFileProgress } from './file-progress.ts'
import { newContentFirst } from './new-content-first.ts'
import type { Run } from './run.ts'
import type { FileCounts } from './session-report.ts'
import { stopReasonOf } from './stop-reason.ts'
import { type Found, syncSessions } from './sync-sessions.ts'
import type { SyncResult } from './totals.ts'

/**
 * Keeps the heap small and garbage collection fast. Objects of a run live so briefly that V8 would let the space for new objects grow to
 * a hundred megabytes, and the other one to twice of what is used. With so small a space, several threads of the collector would mostly wait
 * for each other, so there is one. To be called before much is allocated.
 */
export const keepHeapSmall = (): void =>
  ['--semi-space-growth-factor=1', '--heap-growing-percent=100', '--no-parallel-scavenge'].forEach(
    v8.setFlagsFromString,
  )

/** Reports, and counts the reasons for which sessions are not sent. */
const newReasons = (report: Reporter) => {
  const reasons = new Map<string, Extract<SyncEvent, { type: 'not_sent' }>>()
  const add = (status: 'excluded' | 'held', why: string) => {
    const key = `${status} ${why}`
    const sessions = (reasons.get(key)?.sessions ?? 0) + 1
    reasons.set(key, { type: 'not_sent', status, why, sessions })
  }
  return {
    report: (event: SyncEvent) => {
      if (event.type === 'session' && (event.status === 'excluded' || event.status === 'held'))
        add(event.status, event.why ?? '')
      report(event)
    },
    tell: () => reasons.forEach(report),
  }
}

const sumOf = <Counts extends Readonly<Record<keyof Counts, number>>>(one: Counts, other: Counts): Counts =>
  Object.fromEntries(
    (Object.keys(one) as (keyof Counts)[]).map((key) => [key, one[key] + other[key]]),
  ) as unknown as Counts

/** Each message is read for the session's outline, for its secrets, and to be sent. */
const readingsOf = ({ redaction }: Run): number => (redaction ? 3 : 2)

/** The sessions that files lead to. */
async function* sessionsOf(run: Run, files: readonly SessionFile[]): AsyncGenerator<Found> {
  for (const file of files) {
    const { path, agent, others } = file
    const progress = newFileProgress(totalSize([file]), readingsOf(run), run.report)
    try {
      for await (const stored of agent.sessions(path, others)) {
        progress.opened()
        yield { agent, stored, progress }
      }
    } catch (error) {
      yield { path, error }
    }
    progress.closed()
  }
}

/** Uploads all sessions that may be sent, asks about held ones, and uploads those that the user agrees to. */
const syncAndAsk = async (run: Run, files: readonly SessionFile[]): Promise<SyncResult> => {
  const first = await syncSessions(run, newContentFirst(run.origins, sessionsOf(run, files)))
  if (first.held.length === 0 || first.stopReason || run.signal?.aborted) return first
  run.report({ type: 'asking' })
  // They were held in the order in which they were read, which differs from run to run.
  const held = first.held.toSorted((a, b) => (a.origin.source < b.origin.source ? -1 : 1))
  await run.askFor?.(held)
  const second = await syncSessions({ ...run, askFor: undefined }, held)
  return {
    byStatus: sumOf(first.byStatus, second.byStatus),
    counts: sumOf<FileCounts>(first.counts, second.counts),
    held: [],
    busy: first.busy.union(second.busy),
    refusedDuties: second.refusedDuties,
    stopReason: second.stopReason,
  }
}

/** An unreadable line is reported, and nothing else is lost. It fails a run only with the option for that. */
const exitCodeOf = (result: SyncResult, unreadable: number, { dryRun, strict = false }: Run): number => {
  const { byStatus, counts, stopReason } = result
  if (stopReason) return stopReason.exitCode
  if (byStatus.held > 0 && !dryRun) return exitCodes.usage
  const skipped = strict ? counts.skippedLines : counts.notUnderstood
  const left = byStatus.failed + unreadable + skipped + counts.leftOut + counts.exposed
  return left > 0 ? exitCodes.failed : exitCodes.ok
}

/**
 * Uploads the sessions of `files` and reports the summary of the run, which it returns. `unreadable` is how many
 * files and folders could not be searched; they count as failed.
 */
export const syncFiles = async (run: Run, files: readonly SessionFile[], unreadable: number): Promise<Summary> => {
  const reasons = newReasons(run.report)
  const ended = await syncAndAsk({ ...run, report: reasons.report }, files)
  const result = { ...ended, stopReason: ended.stopReason ?? stopReasonOf(run.signal?.reason) }
  reasons.tell()
  const { byStatus, counts, stopReason } = result
  const { leftOut: leftOutMessages, notUnderstood: _, ...tally } = counts
  const summary: Summary = {
    type: 'summary',
    dryRun: run.dryRun,
    ...byStatus,
    failed: byStatus.failed + unreadable,
    ...tally,
    leftOutMessages,
    ...(stopReason ? { stopped: stopReason.why } : {}),
    exitCode: exitCodeOf(result, unreadable, run),
  }
  run.report(summary)
  return summary
}
