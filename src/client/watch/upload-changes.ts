import { exitCodes, UsageError } from '../../cli/exit.ts'
import type { Reporter, SyncEvent } from '../report/events.ts'
import { isTemporaryFailure } from '../api/errors.ts'
import type { Destination } from '../upload/destination.ts'
import { LogReplaced, NotesForgotten, OtherNamespace, requireSameLog } from '../upload/same-log.ts'
import type { Run } from '../upload/run.ts'
import { syncSessions } from '../upload/sync-sessions.ts'
import type { Notes } from './reach.ts'
import type { WatchOptions } from './watch-sessions.ts'

const isFailure = (event: SyncEvent): boolean =>
  (event.type === 'problem' && event.kind === 'session_failed') ||
  (event.type === 'session' && event.status === 'failed')

/** Passes on the reports of a run, except its failures, and collects the sessions that did not fail. */
const holdingFailures = (report: Reporter) => {
  const failures: SyncEvent[] = []
  const others: SyncEvent[] = []
  const succeeded = new Set<string>()
  const hold: Reporter = (event) => {
    if (isFailure(event)) return void failures.push(event)
    if (event.type === 'session') succeeded.add(event.file)
    if (event.type === 'session') others.push(event)
    report(event)
  }
  return { hold, failures, others, succeeded }
}

/**
 * Leaves out a notice that is equal to the last one of a session: otherwise each new line would repeat it. The same for a past that still could
 * not be erased.
 */
const withoutRepetition = (report: Reporter): Reporter => {
  const last = new Map<string, string>()
  return (event) => {
    if (event.type === 'notice' || (event.type === 'problem' && event.kind === 'secret_in_history')) {
      const key = `${event.type} ${event.file}`
      if (last.get(key) === event.message) return
      last.set(key, event.message)
    }
    report(event)
  }
}

/** Reports once for each reason that sessions are not sent, with their number at that time. */
const tellNotSent = (report: Reporter) => {
  const told = new Set<string>()
  return (events: readonly SyncEvent[]): void => {
    const sessions = events.filter((event) => event.type === 'session')
    const notSent = sessions.filter(({ status }) => status === 'excluded' || status === 'held')
    for (const [why, these] of Map.groupBy(notSent, ({ why }) => why ?? '')) {
      const status = these[0]!.status === 'held' ? 'held' : 'excluded'
      if (!told.has(why)) report({ type: 'not_sent', status, why, sessions: these.length })
      told.add(why)
    }
  }
}

const FIRST_OWED_MS = 1_000
const LONGEST_OWED_MS = 60_000

/** When a watch does again what could not be erased: not in each round, because a request that fails is repeated for seconds. */
const newOwed = () => {
  let delayMs = FIRST_OWED_MS
  let dueAt: number | undefined
  const inMs = () => (dueAt === undefined ? undefined : Math.max(0, dueAt - performance.now()))
  return {
    isDue: () => (inMs() ?? 0) <= 0,
    inMs,
    /** Whether something could not be erased in a round. */
    note: (isOwed: boolean) => {
      const wasDue = (inMs() ?? 0) <= 0
      if (!isOwed && !wasDue) return
      dueAt = isOwed ? performance.now() + delayMs : undefined
      delayMs = isOwed ? Math.min(2 * delayMs, LONGEST_OWED_MS) : FIRST_OWED_MS
    },
  }
}

type Place = Pick<Destination, 'connection' | 'states'>

/** Whether the service answers. Throws LogReplaced, OtherNamespace and NotesForgotten; other refusals are reported for each session. */
const isInReach = async (place: Place): Promise<boolean> => {
  if (!place.states.isKept()) throw new NotesForgotten()
  try {
    await requireSameLog(place)
    return true
  } catch (error) {
    if (error instanceof LogReplaced || error instanceof OtherNamespace) throw error
    return !isTemporaryFailure(error)
  }
}

/**
 * The `upload` of a watch. A session that fails by itself is reported and not tried again; one that other machines upload is not
 * reported and tried again. Whatever cannot be erased is tried again too. If the service cannot be reached, nothing is reported here. If nothing can be stored, as on a full disk, this
 * is reported once, and all sessions wait. Throws UsageError when the login has ended, and StateFailed if not even the stored state can be
 * read. Throws LogReplaced if the service has another log or was restored from a backup: `place` is asked before anything is sent, because a
 * write would hide it; or OtherNamespace. Throws NotesForgotten if another process has noticed that first. Then a new run compares or uploads everything again.
 */
export const newUploadChanges = (run: Run, place: Place, signal: AbortSignal, notes: Notes): WatchOptions['upload'] => {
  const report = withoutRepetition(run.report)
  const tell = tellNotSent(report)
  const owed = newOwed()
  return async (changes) => {
    if (!(await isInReach(place))) return { done: new Set(), isInterrupted: true, owedInMs: owed.inMs() }
    const { hold, failures, others, succeeded } = holdingFailures(report)
    const { stopReason, busy, counts, refusedDuties } = await syncSessions(
      { ...run, place, leavesDuties: !owed.isDue(), report: hold },
      changes,
    )
    // A run that was stopped may have left something.
    owed.note(counts.exposed + refusedDuties > 0 || stopReason !== undefined)
    if (stopReason?.stateFailed) notes.noteFailure(stopReason.stateFailed)
    else if (!stopReason) notes.noteSuccess()
    if (stopReason?.isOtherLog) throw new LogReplaced()
    if (stopReason?.isFinal)
      throw stopReason.exitCode === exitCodes.usage ? new UsageError(stopReason.why) : new Error(stopReason.why)
    const isInterrupted = stopReason !== undefined || signal.aborted
    const isBusy = (event: SyncEvent) => 'file' in event && busy.has(event.file)
    if (!isInterrupted) failures.filter((event) => !isBusy(event)).forEach(report)
    tell(others)
    const done = changes.filter(({ stored: { source } }) => (isInterrupted ? succeeded.has(source) : !busy.has(source)))
    return { done: new Set(done), isInterrupted, owedInMs: owed.inMs() }
  }
}
