import pMap from 'p-map'
import { commandName } from '../../cli/command-name.ts'
import { errorMessage, exitCodes } from '../../cli/exit.ts'
import { Interrupted } from '../../cli/interrupt.ts'
import type { Agent, StoredSession } from '../agents/agent.ts'
import { type SessionFile, sizeOf } from '../agents/session-files.ts'
import { hasStatus, isTemporaryFailure } from '../api/errors.ts'
import type { FileStatus, SyncEvent, Tally } from '../report/events.ts'
import { StateFailed } from '../state/state-file.ts'
import type { Duty } from '../state/duties.ts'
import type { Destination } from './destination.ts'
import { TraceBusy } from './expected-revision.ts'
import { doDuties } from './owed-erasures.ts'
import { type Budget, newBudget, newTurns, type Turn } from './turns.ts'
import { type FileProgress, newFileProgress } from './file-progress.ts'
import { LogReplaced } from './same-log.ts'
import { newSending } from './sending.ts'
import { syncSession } from './sync-session.ts'
import type { HeldSession, SessionRun, SyncJob } from './run.ts'
import { type FileCounts, newFileCounts } from './upload.ts'

/** How many sessions are uploaded at once: the service handles concurrent requests together at little more cost. */
const SESSIONS = 16
/** How many of them are read at once. */
const READERS = 4
/** How many bytes of messages may be in flight, for all sessions together. */
const BYTES = 4 << 20

/** Why a run ended before its last session, and the exit code: all sessions after it would fail too. */
type StopReason = {
  readonly why: string
  readonly exitCode: number
  /** Whether the same job cannot continue later. */
  readonly isFinal: boolean
  /** Whether another job can, because the service has another log than at the beginning of this job. */
  readonly isOtherLog?: boolean
  /** The error that prevents storing the state, if that is the reason. */
  readonly stateFailed?: StateFailed
}

/** The result for some sources: sessions by their status, and their counts. */
export type SyncResult = {
  readonly byStatus: Readonly<Record<FileStatus, number>>
  readonly counts: FileCounts
  /** Sessions for which the user can be asked; they are not in `byStatus`. */
  readonly held: readonly HeldSession[]
  /** The sources of sessions that failed because other machines upload them. */
  readonly busy: ReadonlySet<string>
  /** How many duties are left that the user may not do any more, and knows. */
  readonly refusedDuties: number
  readonly stopReason?: StopReason | undefined
}

const describeFailure = (error: unknown, namespaceSlug: string | undefined): string => {
  if (hasStatus(error, 403) && error.code === 'quota_exceeded')
    return `the namespace ${namespaceSlug} is full: ${error.message}`
  if (hasStatus(error, 403) && error.code === 'forbidden')
    return `another user uploaded this session to the namespace ${namespaceSlug}: only that user and admins may change it`
  if (hasStatus(error, 403)) return `the service refuses this session: ${error.message}`
  if (hasStatus(error, 404)) return `the trace no longer exists, or you may not write to it (${error.message})`
  return errorMessage(error)
}

const CONTINUE = 'Run the same command again to continue.'

/** Whether an error ends the run. */
export const stopReasonOf = (error: unknown): StopReason | undefined => {
  if (error instanceof Interrupted)
    return { why: `${error.message}. ${CONTINUE}`, exitCode: error.exitCode, isFinal: true }
  if (hasStatus(error, 401))
    return {
      why: `your session has ended. Log in again: ${commandName} login`,
      exitCode: exitCodes.usage,
      isFinal: true,
    }
  if (error instanceof LogReplaced)
    return {
      why: `${error.message}. Run the command again to upload everything again.`,
      exitCode: exitCodes.failed,
      isFinal: true,
      isOtherLog: true,
    }
  if (!isTemporaryFailure(error) && !(error instanceof StateFailed)) return undefined
  const message = errorMessage(error).replace(/[^.?!]$/, '$&.')
  const reason = { why: `${message} ${CONTINUE}`, exitCode: exitCodes.failed, isFinal: false }
  return error instanceof StateFailed ? { ...reason, stateFailed: error } : reason
}

const tallyOf = ({ messages, new: created, updated }: FileCounts): Tally => ({ messages, new: created, updated })

const aboutOf = ({ destination, about }: SessionRun) =>
  destination ? { ...about, namespace: destination.connection.namespaceSlug } : about

/** `progress` is that of its file; undefined for a session that was tried before. */
type FoundSession = { readonly agent: Agent; readonly session: StoredSession; readonly progress?: FileProgress }
/** A session that was found, or a file that cannot be read, and why. */
type Found = FoundSession | { readonly path: string; readonly error: unknown }

/** Each message is read for the session's outline, for its secrets, and to be sent. */
const readingsOf = ({ redaction }: SyncJob): number => (redaction ? 3 : 2)

async function* sessionsOf(job: SyncJob, files: readonly SessionFile[]): AsyncGenerator<Found> {
  for (const { path, agent } of files) {
    const progress = newFileProgress(sizeOf(path), readingsOf(job), job.report)
    try {
      for await (const session of agent.sessions(path)) {
        progress.opened()
        yield { agent, session, progress }
      }
    } catch (error) {
      yield { path, error }
    }
    progress.closed()
  }
}

/** Adds up the results of sessions, and ends the run if all others would fail as well. */
const newTotals = (job: SyncJob) => {
  const stopped = new AbortController()
  const signal = job.signal ? AbortSignal.any([stopped.signal, job.signal]) : stopped.signal
  const counts = newFileCounts()
  const byStatus: Record<FileStatus, number> = {
    synced: 0,
    unchanged: 0,
    empty: 0,
    deleted: 0,
    excluded: 0,
    held: 0,
    failed: 0,
  }
  const held: HeldSession[] = []
  const busy = new Set<string>()
  const tried = new Set<string>()
  let place: Destination | undefined
  let stopReason: StopReason | undefined
  let refusedDuties = 0
  const add = (status: FileStatus | undefined, more: FileCounts) => {
    if (status !== undefined) byStatus[status]++
    for (const key of Object.keys(more) as (keyof FileCounts)[]) counts[key] += more[key]
  }
  const stop = (reason: StopReason) => {
    stopReason ??= reason
    stopped.abort(new Error(reason.why))
  }
  const note = ({ destination, session: { source }, isErasureOwed = false }: SessionRun) => {
    place ??= destination
    if (isErasureOwed) tried.add(source)
  }
  const result = (): SyncResult => ({ byStatus, counts, held, busy, refusedDuties, stopReason })
  return {
    signal,
    add,
    held,
    busy,
    note,
    /** Any place that a session of the run was sent to. */
    place: () => place,
    /** Whether this run has tried to do a duty, and could not. */
    isTried: ({ source }: Duty) => tried.has(source),
    noteRefused: (duties: number) => void (refusedDuties += duties),
    stop,
    result,
  }
}
type Totals = ReturnType<typeof newTotals>

/** Reports about a session have its title, which is known after it was read. */
const withTitle = (event: SyncEvent, title: string | undefined): SyncEvent =>
  title !== undefined && (event.type === 'problem' || event.type === 'notice') ? { ...event, title } : event

const fail = (job: SyncJob, totals: Totals, file: string, error: unknown, run?: SessionRun): void => {
  const counts = run?.counts ?? newFileCounts()
  const message = describeFailure(error, run?.destination?.connection.namespaceSlug)
  job.report(withTitle({ type: 'problem', kind: 'session_failed', file, message }, run?.about.title))
  job.report({ type: 'session', file, status: 'failed', ...tallyOf(counts) })
  totals.add('failed', counts)
  if (error instanceof TraceBusy) totals.busy.add(file)
  const reason = stopReasonOf(error)
  if (reason) totals.stop(reason)
}

/** The losses of one session to report. A loss that could not be stored is reported again by the next run. */
const lossesOf = ({ origins, force, dryRun }: SyncJob, agentId: string) => {
  const pending = new Set<string>()
  const newLosses: SessionRun['newLosses'] = (losses) => {
    const found = (force ? losses : origins.newLosses(agentId, losses)).filter((loss) => !pending.has(loss))
    for (const loss of found) pending.add(loss)
    return found
  }
  const told = () => {
    if (!dryRun && pending.size > 0) origins.noteReported(agentId, [...pending])
  }
  return { newLosses, told }
}

/** Runs pieces of work with the same key one after the other. */
const newQueues = () => {
  const last = new Map<string, Promise<unknown>>()
  /** Waits for its turn within `wait`. */
  return async <T>(key: string, wait: Turn['pausedFor'], work: () => Promise<T>): Promise<T> => {
    const before = last.get(key)
    const { promise, resolve: end } = Promise.withResolvers<void>()
    last.set(key, promise)
    if (before) await wait(() => before)
    try {
      return await work()
    } finally {
      if (last.get(key) === promise) last.delete(key)
      end()
    }
  }
}

/** The data that the sessions of a run share. */
type Shared = {
  readonly totals: Totals
  readonly newTurn: () => Turn
  readonly budget: Budget
  readonly queued: ReturnType<typeof newQueues>
}

/** Uploads one session. Its events are reported together at its end, because events of others would be mixed with them otherwise. */
const syncAndReport = async (
  job: SyncJob,
  { totals, newTurn, budget, queued }: Shared,
  { progress = newFileProgress(0, 1, job.report), ...found }: FoundSession,
): Promise<void> => {
  const { source: file } = found.session
  const events: SyncEvent[] = []
  const report = (event: SyncEvent) => {
    if (event.type !== 'progress') return void events.push(event)
    job.report({ ...event, bytes: 0 })
    progress.sent(event.bytes)
  }
  const losses = lossesOf(job, found.agent.id)
  const turn = newTurn()
  const run: SessionRun = {
    ...found,
    counts: newFileCounts(),
    report,
    turn,
    newSending: (send) => newSending({ send, budget, turn, signal: totals.signal }),
    alone: (session, work) => queued(JSON.stringify([session.agentId, session.sessionId]), turn.pausedFor, work),
    about: {},
    newLosses: losses.newLosses,
  }
  const tell = () => {
    for (const event of events.splice(0)) job.report(withTitle(event, run.about.title))
    losses.told()
  }
  const tellOfFailed = () => {
    try {
      tell()
    } catch (error) {
      // A loss that cannot be stored is reported again by the next run.
      if (!(error instanceof StateFailed)) throw error
    }
  }
  try {
    const result = await progress.during(() => syncSession(job, run))
    if ('externalId' in result) {
      tell()
      job.report({ type: 'session', file, ...result, ...tallyOf(run.counts), ...aboutOf(run) })
      totals.add(result.status, run.counts)
    } else if (result.status === 'held' && job.askFor) totals.held.push({ ...found, origin: result.origin })
    else {
      // The losses of a session that is not sent do not matter.
      const { status, why } = result
      job.report({ type: 'session', file, status, why, ...tallyOf(newFileCounts()) })
      totals.add(status, newFileCounts())
    }
  } catch (error) {
    tellOfFailed()
    // A failure of the whole run is reported once.
    if (totals.signal.aborted) totals.add(undefined, run.counts)
    else fail(job, totals, file, error, run)
  } finally {
    totals.note(run)
    progress.closed()
  }
}

/** Does what earlier runs have left to do at the service. */
const doOldDuties = async (job: SyncJob, totals: Totals): Promise<void> => {
  const place = job.place ?? totals.place()
  if (job.dryRun || job.leavesDuties || totals.signal.aborted || !place) return
  const { connection, states } = place
  try {
    const { failed, refused } = await doDuties({ connection, duties: states.duties }, job.report, totals.isTried)
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
 * ended. Waits until no other process uploads. A job may be used repeatedly.
 */
export const syncSessions = async (job: SyncJob, sessions: Sessions): Promise<SyncResult> => {
  const totals = newTotals(job)
  const { signal } = totals
  const shared = { totals, newTurn: newTurns(READERS, signal), budget: newBudget(BYTES), queued: newQueues() }
  const syncFound = async (found: Found) => {
    if (signal.aborted) return
    if ('error' in found) fail(job, totals, found.path, found.error)
    else await syncAndReport(job, shared, found)
  }
  const work = async () => {
    await pMap(sessions, syncFound, { concurrency: SESSIONS })
    await doOldDuties(job, totals)
  }
  await (job.dryRun ? work() : job.asUploader(work)).catch((error: unknown) => stopFor(totals, error))
  return totals.result()
}

/** The same for the sessions of files. */
export const syncSessionsOf = (job: SyncJob, files: readonly SessionFile[]): Promise<SyncResult> =>
  syncSessions(job, sessionsOf(job, files))
