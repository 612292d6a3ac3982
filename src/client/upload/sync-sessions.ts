import pMap from 'p-map'
import type { FoundSession } from '../agents/agent.ts'
import type { Tally } from '../report/events.ts'
import { StateFailed } from '../state/state-file.ts'
import { TraceBusy } from './expected-revision.ts'
import { type FileProgress, newFileProgress } from './file-progress.ts'
import { newHeldReport, withTitle } from './held-report.ts'
import { doDuties } from './owed-erasures.ts'
import { readStamp } from './read-session.ts'
import type { Run, SessionRun } from './run.ts'
import { newSending } from './sending.ts'
import { type FileCounts, newFileCounts } from './session-report.ts'
import { describeFailure, stopReasonOf } from './stop-reason.ts'
import { syncSession } from './sync-session.ts'
import { newTotals, type SyncResult, type Totals } from './totals.ts'
import { type Budget, newBudget, newTurns, type Turn } from './turns.ts'

/** How many sessions are uploaded at once: the service handles concurrent requests together at little more cost. */
const SESSIONS = 16
/** How many of them are read at once. */
const READERS = 4
/** How many bytes of messages may be in flight, for all sessions together. */
const BYTES = 4 << 20

const tallyOf = ({ messages, new: created, updated }: FileCounts): Tally => ({ messages, new: created, updated })

const aboutOf = ({ destination, about }: SessionRun) =>
  destination ? { ...about, namespace: destination.connection.namespaceSlug } : about

/** A session to upload; `progress` is undefined where it is not reported in bytes. */
type ToSync = FoundSession & { readonly progress?: FileProgress }
/** The same, or a file that cannot be read, and why. */
export type Found = ToSync | { readonly path: string; readonly error: unknown }

const fail = (run: Run, totals: Totals, file: string, error: unknown, session?: SessionRun): void => {
  const counts = session?.counts ?? newFileCounts()
  const message = describeFailure(error, session?.destination?.connection.namespaceSlug)
  run.report(withTitle({ type: 'problem', kind: 'session_failed', file, message }, session?.about.title))
  run.report({ type: 'session', file, status: 'failed', ...tallyOf(counts) })
  totals.add('failed', counts)
  if (error instanceof TraceBusy) totals.busy.add(file)
  const reason = stopReasonOf(error)
  if (reason) totals.stop(reason)
}

/** What the sessions of a run share. */
type Shared = { readonly totals: Totals; readonly newTurn: () => Turn; readonly budget: Budget }

/** A loss that cannot be stored is reported again by the next run. */
const unlessStateFailed = (tell: () => void): void => {
  try {
    tell()
  } catch (error) {
    if (!(error instanceof StateFailed)) throw error
  }
}

/** Uploads the sessions within the file of one that was sent. The next run reads it again if not all could be sent. */
const syncWithin = async (run: Run, shared: Shared, { agent, stored, within = [] }: SessionRun): Promise<void> => {
  let areSent = true
  for (const each of within) areSent = (await syncAndReport(run, shared, { agent, stored: each })) && areSent
  const projectPath = run.origins.originOf(stored.source)?.projectPath
  if (within.length > 0 && areSent && !run.dryRun)
    run.origins.noteOrigin(stored.source, { stamp: readStamp(agent, stored), projectPath })
}

/** Uploads one session, and reports it at its end. Returns whether nothing of it is left to a later try: it neither failed nor is held. */
const syncAndReport = async (
  run: Run,
  shared: Shared,
  { progress = newFileProgress(0, 1, run.report), agent, stored }: ToSync,
): Promise<boolean> => {
  const { totals, newTurn, budget } = shared
  const { source: file } = stored
  const { tell, ...held } = newHeldReport(run, agent.id, progress)
  const turn = newTurn()
  const session: SessionRun = {
    ...{ agent, stored, ...held, turn, counts: newFileCounts(), about: {} },
    newSending: (send) => newSending({ send, budget, turn, signal: totals.signal }),
  }
  const { counts } = session
  try {
    const result = await progress.during(() => syncSession(run, session))
    if ('externalId' in result) {
      tell(session.about.title)
      run.report({ type: 'session', file, ...result, ...tallyOf(counts), ...aboutOf(session) })
      totals.add(result.status, counts)
      if (result.status !== 'deleted') await syncWithin(run, shared, session)
    } else if (result.status === 'held' && run.askFor) totals.held.push({ agent, stored, origin: result.origin })
    else {
      // The losses of a session that is not sent do not matter.
      const { status, why } = result
      run.report({ type: 'session', file, status, why, ...tallyOf(newFileCounts()) })
      totals.add(status, newFileCounts())
    }
    return result.status !== 'held'
  } catch (error) {
    unlessStateFailed(() => tell(session.about.title))
    // A failure of the whole run is reported once.
    if (totals.signal.aborted) totals.add(undefined, counts)
    else fail(run, totals, file, error, session)
    return false
  } finally {
    totals.note(session)
    progress.closed()
  }
}

/** Does what earlier runs have left to do at the service. */
const doOldDuties = async (run: Run, totals: Totals): Promise<void> => {
  const place = run.place ?? totals.place()
  if (run.dryRun || run.leavesDuties || totals.signal.aborted || !place) return
  const { connection, states } = place
  try {
    const { failed, refused } = await doDuties({ connection, duties: states.duties }, run.report, totals.isTried)
    totals.add(undefined, { ...newFileCounts(), exposed: failed })
    totals.noteRefused(refused)
  } catch (error) {
    stopFor(totals, error)
  }
}

/** Ends the run because of an error. Throws one that is none of the service or of the state. */
const stopFor = (totals: Totals, error: unknown): void => {
  const reason = stopReasonOf(error)
  if (reason) totals.stop(reason)
  else if (!totals.signal.aborted) throw error
}

type Sessions = AsyncIterable<Found> | Iterable<Found>

/**
 * Uploads the new parts of some sessions and reports each session; unchanged ones are not read. Several are sent at once, and
 * reported when they end. Continues after a session that fails, unless the server cannot be reached or the session of the login has
 * ended. Waits until no other process uploads. The same `run` may be asked for again.
 */
export const syncSessions = async (run: Run, sessions: Sessions): Promise<SyncResult> => {
  const totals = newTotals(run)
  const { signal } = totals
  const shared = { totals, newTurn: newTurns(READERS, signal), budget: newBudget(BYTES) }
  const syncFound = async (found: Found) => {
    if (signal.aborted) return
    if ('error' in found) fail(run, totals, found.path, found.error)
    else await syncAndReport(run, shared, found)
  }
  const work = async () => {
    await pMap(sessions, syncFound, { concurrency: SESSIONS })
    await doOldDuties(run, totals)
  }
  await (run.dryRun ? work() : run.asUploader(work)).catch((error: unknown) => stopFor(totals, error))
  return totals.result()
}
