import type { SessionState } from '../state/session-states.ts'
import type { Destination, Held, NotSent, Origin } from './destination.ts'
import { revisionAfterPatch } from './expected-revision.ts'
import { type ReadResult, readSession, readStamp, stampOf } from './read-session.ts'
import type { SessionRun, SyncJob } from './run.ts'
import { requireSameLog, SessionLost, throwLost } from './same-log.ts'
import { type SentResult, sendSession } from './send-session.ts'
import { noteVisibility } from './upload.ts'
import { findOwnTrace } from './upsert-trace.ts'

/** A session that is excluded or held, and why; a held one with its origin. */
type Result =
  | SentResult
  | { readonly status: 'excluded'; readonly why: string }
  | { readonly status: 'held'; readonly why: string; readonly origin: Origin }

/** Updates the visibility of an unchanged session's trace, if the user asks for another one now. */
const updateVisibility = async (
  dryRun: boolean,
  run: SessionRun,
  destination: Destination,
  stored: SessionState,
): Promise<SentResult['status']> => {
  const { externalId, status, revision: from } = stored
  const { connection, visibility, states } = destination
  if (status === 'deleted') return 'deleted'
  if (status === 'new' || visibility === undefined) return 'unchanged'
  const trace = await findOwnTrace(connection, externalId)
  if (!trace) return throwLost(destination)
  if (trace.visibility === visibility) return 'unchanged'
  if (!dryRun) {
    const to = revisionAfterPatch(from, await connection.api.patchTrace(externalId, { visibility }))
    states.note(stored, [], { from, to })
  }
  if (trace.title !== undefined) run.about = { ...run.about, title: trace.title }
  noteVisibility(run, { before: trace.visibility, after: visibility })
  return 'synced'
}

const isDestination = (answer: Destination | NotSent | Held): answer is Destination => 'connection' in answer

const notSent = (answer: NotSent | Held, origin: Origin): Result =>
  'held' in answer ? { status: 'held', why: answer.held, origin } : { status: 'excluded', why: answer.notSent }

const lostNotice = 'the service had lost messages of this session: the whole session was sent again'

/** Sends the part of a session that was read; the whole session if the service lacks earlier data, as after a restored backup. */
const sendOrAgain = async (
  job: SyncJob,
  run: SessionRun,
  destination: Destination,
  read: ReadResult,
): Promise<SentResult> => {
  try {
    return await sendSession(job, run, destination, read)
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error
  }
  await requireSameLog(destination)
  const { externalId: sessionId } = read.session
  if (!job.dryRun) destination.states.forget({ agentId: run.agent.id, sessionId })
  const sent = await sendSession(job, run, destination, await readSession(job, run, undefined))
  const { externalId, status } = sent
  if (status !== 'deleted' && !job.dryRun)
    run.report({ type: 'notice', file: run.session.source, externalId, message: lostNotice })
  return sent
}

/** Reads a session, and uploads its new part to its destination. `expected` is the destination of the last run. */
const readAndUpload = async (job: SyncJob, run: SessionRun, expected: Destination | undefined): Promise<Result> => {
  const { agent, session } = run
  const { source } = session
  const read = await readSession(job, run, job.force ? undefined : expected?.states)
  const { projectPath } = read
  const origin = { source, agentId: agent.id, sessionId: read.session.externalId, projectPath }
  const destination = await job.destinationOf(origin)
  if (!job.dryRun) job.origins.noteOrigin(source, { stamp: readStamp(agent, session), projectPath })
  if (!isDestination(destination)) return notSent(destination, origin)
  run.destination = destination
  // Only another namespace has the part that was not read.
  const isPart = read.session.isContinued === true && destination.states !== expected?.states
  const whole = isPart ? await readSession(job, run, undefined) : read
  const key = { agentId: agent.id, sessionId: whole.session.externalId }
  return run.alone(key, () => sendOrAgain(job, run, destination, whole))
}

const readInTurn = (job: SyncJob, run: SessionRun, expected: Destination | undefined): Promise<Result> =>
  run.turn.during(() => readAndUpload(job, run, expected))

/**
 * Uploads the new part of a session, and adds to its counts. An unchanged session is not read. Throws RequestFailed, and the errors of
 * reading. Messages that the server has acknowledged until then are remembered, so that the next run continues there.
 */
export const syncSession = async (job: SyncJob, run: SessionRun): Promise<Result> => {
  const { agent, session } = run
  const { source } = session
  const origin = job.origins.originOf(source)
  if (!origin) return readInTurn(job, run, undefined)
  const from = { source, agentId: agent.id, projectPath: origin.projectPath }
  const expected = await job.destinationOf(from)
  if (!isDestination(expected)) return notSent(expected, from)
  const stored = job.force ? undefined : expected.states.read(source)
  if (stored?.stamp !== stampOf(agent, session, job.redaction) || origin.stamp !== readStamp(agent, session))
    return readInTurn(job, run, expected)
  run.destination = expected
  try {
    return { status: await updateVisibility(job.dryRun, run, expected, stored), externalId: stored.externalId }
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error
    if (!job.dryRun) expected.states.forget(stored)
    return readInTurn(job, run, undefined)
  }
}
