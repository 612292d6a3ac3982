import type { Agent, Session, StoredSession, TraceFields } from '../agents/agent.ts'
import type { FileStatus, Reporter, SessionEvent } from '../report/events.ts'
import type { RedactionOptions } from '../redaction/session.ts'
import type { SessionState } from '../state/session-states.ts'
import type { SyncState } from '../state/sync-state.ts'
import type { Destination, DestinationOf, Held, NotSent, Origin } from './destination.ts'
import { readSession, type ReadResult } from './read-session.ts'
import { dryRunTarget, type FileCounts, type NewSending, serverTarget, type Upload } from './targets.ts'
import { requireSameLog } from './same-log.ts'
import type { Turn } from './turns.ts'
import { type UploadResult, uploadSession } from './upload-session.ts'
import { findOwnTrace, type VisibilityChange } from './upsert-trace.ts'

/** The settings of a run. With `force` everything is uploaded again. */
export type SyncJob = {
  readonly destinationOf: DestinationOf
  /** What was learnt of sources before. */
  readonly origins: Pick<SyncState, 'originOf' | 'learnOrigin' | 'newLosses' | 'noteTold' | 'alone'>
  /** How secrets are taken out; undefined when they are not. */
  readonly redaction: RedactionOptions | undefined
  /** Adds what is known of a trace besides what its agent has stored. */
  readonly completeTrace?: ((fields: TraceFields) => Promise<TraceFields>) | undefined
  /** Asks whether held sessions may be sent; those are tried once more then. Undefined where nobody can be asked. */
  readonly askFor?: ((held: readonly HeldSession[]) => Promise<void>) | undefined
  readonly dryRun: boolean
  readonly force: boolean
  /** For how long to wait where another process uploads a session. Default a minute. */
  readonly patienceMs?: number
  readonly report: Reporter
  /** Ends the run: what is on its way arrives, nothing else is sent. */
  readonly signal?: AbortSignal | undefined
}

/** The upload of one session: where it goes, once that is known, and what was counted. */
export type SessionRun = {
  readonly agent: Agent
  readonly session: StoredSession
  readonly counts: FileCounts
  readonly report: Reporter
  readonly turn: Turn
  readonly newSending: NewSending
  destination?: Destination
  /** Those of some losses that the user was not told of before; with `force` all. They count as told then. */
  readonly newLosses: (losses: readonly string[]) => readonly string[]
  /** What users know the session by, and who may read it. */
  about: Pick<SessionEvent, 'title' | 'project' | 'visibility' | 'published'>
}

const noteVisibility = (run: SessionRun, { before, after }: VisibilityChange): void => {
  const published = after === 'public' && before !== 'public' ? { published: true as const } : {}
  run.about = { ...run.about, visibility: after, ...published }
}

/** A session that is held, and where it is from. */
export type HeldSession = { readonly agent: Agent; readonly session: StoredSession; readonly origin: Origin }

type SentStatus = Exclude<FileStatus, 'excluded' | 'held'>

/** `why` a session is excluded or held; the last one with its origin. */
export type Result =
  | { readonly status: SentStatus; readonly externalId: string }
  | { readonly status: 'excluded'; readonly why: string }
  | { readonly status: 'held'; readonly why: string; readonly origin: Origin }

const statusOf = {
  sent: 'synced',
  'nothing to send': 'unchanged',
  empty: 'empty',
  deleted: 'deleted',
} as const satisfies Record<UploadResult, FileStatus>

const deletedNotice = 'its trace was deleted on the server: not uploaded again (--force does)'

/** The stamp of a session as its agent reads it now. */
const readStamp = ({ id, version }: Agent, { stamp }: StoredSession): string => `${id}/${version} ${stamp}`

/** The same, and as secrets are taken out of it. */
export const stampOf = (
  agent: Agent,
  session: StoredSession,
  redaction: Pick<RedactionOptions, 'version'> | undefined,
): string => `${readStamp(agent, session)}${redaction?.version ?? ''}`

/** Updates only the visibility of an unchanged session's trace, when the user asks for another one now. */
const updateVisibility = async (
  dryRun: boolean,
  run: SessionRun,
  destination: Destination,
  { source, externalId, stored }: SessionState,
): Promise<SentStatus> => {
  const { connection, visibility } = destination
  if (!stored || visibility === undefined) return 'unchanged'
  const trace = await findOwnTrace(connection, externalId)
  if (!trace) {
    await requireSameLog(destination)
    run.report({ type: 'notice', file: source, externalId, message: deletedNotice })
    return 'deleted'
  }
  if (trace.visibility === visibility) return 'unchanged'
  if (!dryRun) await connection.api.patchTrace(externalId, { visibility })
  if (trace.title !== undefined) run.about = { ...run.about, title: trace.title }
  noteVisibility(run, { before: trace.visibility, after: visibility })
  return 'synced'
}

/** The stored state if it belongs to this session, else an empty one. Without a stamp until the upload is complete. */
const initialState = (source: string, { externalId }: Session, stored: SessionState | undefined): SessionState => {
  if (stored?.sessionId === externalId) return { ...stored, stamp: undefined }
  return { source, sessionId: externalId, externalId, stored: false, fields: new Map() }
}

const upload = async (
  { dryRun, force, redaction }: SyncJob,
  run: SessionRun,
  destination: Destination,
  { session, resume }: ReadResult,
): Promise<Result> => {
  const { source } = run.session
  const { states } = destination
  const state = initialState(source, session, force ? undefined : states.read(source))
  const messageDigest = state.stored ? states.digests(source) : () => undefined
  const { title, projectName: project = session.trace.projectPath } = session.trace
  run.about = { ...(title === undefined ? {} : { title }), ...(project === undefined ? {} : { project }) }
  const onVisibility = (change: VisibilityChange) => noteVisibility(run, change)
  const uploaded: Upload = {
    destination,
    state,
    messageDigest,
    counts: run.counts,
    report: run.report,
    onVisibility,
    newLosses: run.newLosses,
  }
  const target = (dryRun ? dryRunTarget : serverTarget)(uploaded, run.newSending)
  const status = statusOf[await uploadSession(session, target)]
  const { externalId } = uploaded.state
  if (!dryRun) states.complete({ ...uploaded.state, stamp: stampOf(run.agent, run.session, redaction) }, resume())
  if (status === 'deleted') run.report({ type: 'notice', file: source, externalId, message: deletedNotice })
  return { status, externalId }
}

const isDestination = (answer: Destination | NotSent | Held): answer is Destination => 'connection' in answer

const notSent = (answer: NotSent | Held, origin: Origin): Result =>
  'held' in answer ? { status: 'held', why: answer.held, origin } : { status: 'excluded', why: answer.notSent }

const PATIENCE_MS = 60_000

/** Reads and uploads a session once no other process does, so that what each remembers of it is what the other has sent. */
const uploadAlone = (job: SyncJob, run: SessionRun, expected: Destination | undefined): Promise<Result> => {
  const { source } = run.session
  const work = () => run.turn.during(() => readAndUpload(job, run, expected))
  if (job.dryRun) return work()
  const onWait = () =>
    job.report({ type: 'notice', file: source, message: 'another process is uploading this session: waiting for it' })
  const { patienceMs: waitMs = PATIENCE_MS, signal } = job
  return job.origins.alone(source, { waitMs, onWait, signal }, work)
}

/** Reads a session, and uploads what is new in it to where it goes. `expected` is where it went when it was read last. */
const readAndUpload = async (job: SyncJob, run: SessionRun, expected: Destination | undefined): Promise<Result> => {
  const { agent, session } = run
  const { source } = session
  const read = await readSession(job, run, job.force ? undefined : expected?.states)
  const { projectPath } = read
  const origin = { source, agentId: agent.id, projectPath }
  const destination = await job.destinationOf(origin)
  if (!job.dryRun) job.origins.learnOrigin(source, { stamp: readStamp(agent, session), projectPath })
  if (!isDestination(destination)) return notSent(destination, origin)
  run.destination = destination
  // What was left out is known to another namespace only.
  const isPart = read.session.isResumed === true && destination.states !== expected?.states
  return upload(job, run, destination, isPart ? await readSession(job, run, undefined) : read)
}

/**
 * Uploads what is new in one session, and adds to its counts. An unchanged one is not read. Throws RequestFailed, and what
 * reading throws; what the server acknowledged until then is remembered, so that the next run continues there.
 */
export const syncSession = async (job: SyncJob, run: SessionRun): Promise<Result> => {
  const { agent, session } = run
  const { source } = session
  const origin = job.origins.originOf(source)
  if (!origin) return uploadAlone(job, run, undefined)
  const from = { source, agentId: agent.id, projectPath: origin.projectPath }
  const expected = await job.destinationOf(from)
  if (!isDestination(expected)) return notSent(expected, from)
  const stored = job.force ? undefined : expected.states.read(source)
  if (stored?.stamp !== stampOf(agent, session, job.redaction) || origin.stamp !== readStamp(agent, session))
    return uploadAlone(job, run, expected)
  run.destination = expected
  return { status: await updateVisibility(job.dryRun, run, expected, stored), externalId: stored.externalId }
}
