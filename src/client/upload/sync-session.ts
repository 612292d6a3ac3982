import type { SessionWithin, StoredSession } from '../agents/agent.ts'
import { UsageError } from '../../cli/exit.ts'
import { inOneFile, stampOf } from '../agents/support/files.ts'
import { RequestFailed } from '../api/errors.ts'
import type { SessionKey, SessionState } from '../state/session-states.ts'
import type { Destination, Held, NotSent, Origin } from './destination.ts'
import { revisionAfterPatch } from './expected-revision.ts'
import { isUnchanged, type ReadResult, readSession, readStamp } from './read-session.ts'
import type { SessionRun, Run } from './run.ts'
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
  session: SessionRun,
  destination: Destination,
  sent: SessionState,
): Promise<SentResult['status']> => {
  const { externalId, status, revision: from } = sent
  const { connection, visibility, states } = destination
  if (status === 'deleted') return 'deleted'
  if (status === 'new' || visibility === undefined) return 'unchanged'
  const trace = await findOwnTrace(connection, externalId)
  if (!trace) return throwLost(destination)
  if (trace.visibility === visibility) return 'unchanged'
  if (!dryRun) {
    const to = revisionAfterPatch(
      from,
      await connection.api.patchTrace(connection.namespaceSlug, externalId, { visibility }),
    )
    states.note(sent, [], { from, to })
  }
  if (trace.title !== undefined) session.about = { ...session.about, title: trace.title }
  noteVisibility(session, { before: trace.visibility, after: visibility })
  return 'synced'
}

/** A trace that was moved on and on is followed so many times. */
const MOST_MOVES = 8

/** The destination of a session: the namespace where its trace is, if it is known that it was moved there. */
const destinationOf = async (run: Run, origin: Origin): Promise<Destination | NotSent | Held> => {
  const { source, agentId, sessionId } = origin
  let answer = await run.destinationOf(origin)
  for (let moves = 0; moves < MOST_MOVES && run.placeIn && isDestination(answer); moves += 1) {
    const { states } = answer
    const { movedTo } = (sessionId === undefined ? states.read(source) : states.find({ agentId, sessionId })) ?? {}
    if (movedTo === undefined) break
    try {
      answer = { ...answer, ...(await run.placeIn(movedTo)) }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      // `--force` sends it anew to where the rules say.
      return run.force
        ? answer
        : {
            notSent: `its trace was moved to ${movedTo}, and you are not in that namespace any more (--force sends it anew)`,
          }
    }
  }
  return answer
}

const isDestination = (answer: Destination | NotSent | Held): answer is Destination => 'connection' in answer

const notSent = (answer: NotSent | Held, origin: Origin): Result =>
  'held' in answer ? { status: 'held', why: answer.held, origin } : { status: 'excluded', why: answer.notSent }

const lostNotice = 'the service had lost messages of this session: the whole session was sent again'

/** Notes that the trace of a session was moved, so that the next run goes there at once. */
const noteMoved = (session: SessionRun, { states }: Destination, key: SessionKey, movedTo: string): void => {
  const { source, files } = session.stored
  const known = states.find(key) ?? { ...key, externalId: key.sessionId, fields: new Map() }
  const places = new Map(files.map(({ path }) => [path, undefined]))
  states.write({ ...known, status: 'moved', movedTo, source, files: places })
}

const movedNotice = (slug: string): string => `its trace was moved to the namespace ${slug}: going on there`

/** Sends the part of a session that was read; the whole session if the service lacks earlier data, as after a restored backup. */
const sendOrAgain = async (
  run: Run,
  session: SessionRun,
  destination: Destination,
  read: ReadResult,
): Promise<SentResult> => {
  try {
    return await sendSession(run, session, destination, read)
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error
  }
  await requireSameLog(destination)
  const { externalId: sessionId } = read.session
  if (!run.dryRun) destination.states.forget({ agentId: session.agent.id, sessionId })
  const sent = await sendSession(run, session, destination, await readSession(run, session, undefined))
  const { externalId, status } = sent
  if (status !== 'deleted' && !run.dryRun)
    session.report({ type: 'notice', file: session.stored.source, externalId, message: lostNotice })
  return sent
}

/** Goes on in the namespace to which the trace of a session was moved: what that has of it is compared, as at a first contact. */
const sendThere = async (
  run: Run,
  session: SessionRun,
  from: Destination,
  { read, movedTo }: { readonly read: ReadResult; readonly movedTo: string },
): Promise<SentResult> => {
  const key = { agentId: session.agent.id, sessionId: read.session.externalId }
  const destination = { ...from, ...(await run.placeIn!(movedTo)) }
  if (!run.dryRun) {
    noteMoved(session, from, key, movedTo)
    // It was there before, and has been moved back.
    if (destination.states.find(key)?.status === 'moved') destination.states.forget(key)
  }
  session.destination = destination
  const sent = await sendWhereItIs(run, session, destination, await readSession(run, session, undefined))
  session.report({
    type: 'notice',
    file: session.stored.source,
    externalId: sent.externalId,
    message: movedNotice(movedTo),
  })
  return sent
}

/** Sends a session to its destination, or to where the service says that its trace was moved. */
const sendWhereItIs = async (
  run: Run,
  session: SessionRun,
  destination: Destination,
  read: ReadResult,
): Promise<SentResult> => {
  try {
    return await sendOrAgain(run, session, destination, read)
  } catch (error) {
    const movedTo = error instanceof RequestFailed ? error.movedTo : undefined
    if (movedTo === undefined || !run.placeIn) throw error
    return sendThere(run, session, destination, { read, movedTo })
  }
}

/** Where a session is that is within the file of another one. */
const storedWithin = (stored: StoredSession, { id, read }: SessionWithin): StoredSession => ({
  ...inOneFile(`${stored.source}#${id}`, stampOf(stored)),
  read,
})

/** Reads a session, and uploads its new part to its destination. `expected` is the destination of the last run. */
const readAndUpload = async (run: Run, session: SessionRun, expected: Destination | undefined): Promise<Result> => {
  const { agent, stored } = session
  const { source } = stored
  const files = stored.files.map(({ path }) => path)
  const read = await readSession(run, session, run.force ? undefined : expected?.states)
  const { projectPath, folders } = read
  const origin = { source, files, agentId: agent.id, sessionId: read.session.externalId, projectPath, folders }
  const destination = await destinationOf(run, origin)
  session.within = (read.session.within ?? []).map((within) => storedWithin(stored, within))
  // With sessions within, it is only known as read once these have been sent, too.
  const stamp = session.within.length > 0 ? '' : readStamp(agent, stored)
  if (!run.dryRun) run.origins.noteOrigin(source, { stamp, projectPath })
  if (!isDestination(destination)) return notSent(destination, origin)
  session.destination = destination
  // Only another namespace has the part that was not read.
  const isPart = read.session.isContinued === true && destination.states !== expected?.states
  const whole = isPart ? await readSession(run, session, undefined) : read
  // Another copy of it remembers what was sent from this one.
  const key = JSON.stringify([agent.id, whole.session.externalId])
  return session.turn.alone(key, () => sendWhereItIs(run, session, destination, whole))
}

const readInTurn = (run: Run, session: SessionRun, expected: Destination | undefined): Promise<Result> =>
  session.turn.during(() => readAndUpload(run, session, expected))

/**
 * Uploads the new part of a session, and adds to its counts. An unchanged session is not read. Throws RequestFailed, and the errors of
 * reading. Messages that the server has acknowledged until then are remembered, so that the next run continues there.
 */
export const syncSession = async (run: Run, session: SessionRun): Promise<Result> => {
  const { agent, stored } = session
  const { source } = stored
  const origin = run.origins.originOf(source)
  if (!origin) return readInTurn(run, session, undefined)
  const files = stored.files.map(({ path }) => path)
  const from = { source, files, agentId: agent.id, projectPath: origin.projectPath }
  const expected = await destinationOf(run, from)
  if (!isDestination(expected)) return notSent(expected, from)
  const sent = run.force ? undefined : expected.states.read(source)
  const isSame = sent && isUnchanged(stored, sent, { agent, redaction: run.redaction })
  if (!isSame || origin.stamp !== readStamp(agent, stored)) return readInTurn(run, session, expected)
  session.destination = expected
  try {
    return {
      status: await updateVisibility(run.dryRun, session, expected, { ...sent, source }),
      externalId: sent.externalId,
    }
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error
    if (!run.dryRun) expected.states.forget(sent)
    return readInTurn(run, session, undefined)
  }
}
