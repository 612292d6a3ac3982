import { digest } from '../digest.ts'
import type { FileStatus } from '../report/events.ts'
import { countOf } from '../report/text.ts'
import type { SentSession, SessionKey, SessionState } from '../state/session-states.ts'
import { deletedElsewhere } from './deleted-elsewhere.ts'
import type { Destination } from './destination.ts'
import { dryRunTarget } from './dry-run-target.ts'
import { type ReadResult, sentFiles } from './read-session.ts'
import { eraseExposed } from './owed-erasures.ts'
import { serverTarget } from './server-target.ts'
import type { SessionRun, Run } from './run.ts'
import { type UploadResult, uploadSession } from './upload-session.ts'
import { newUpload, notice, type Upload } from './upload.ts'
import { throwLost } from './same-log.ts'
import { findOwnTrace } from './upsert-trace.ts'

/** The result for a session that may be sent. */
export type SentResult = {
  readonly status: Exclude<FileStatus, 'excluded' | 'held'>
  readonly externalId: string
}

const statusOf = {
  sent: 'synced',
  'nothing to send': 'unchanged',
  empty: 'empty',
  deleted: 'deleted',
} as const satisfies Record<UploadResult, FileStatus>

const deletedThereNotice = (place: string, { connection }: Destination): string =>
  `its trace was deleted from ${place}: not sent to ${connection.namespaceSlug} (--force sends it)`

export const deletedNotice = 'its trace was deleted on the service: left alone (--force uploads it again)'

const shorterNotice = (messages: number): string =>
  `the service has more of ${countOf(messages, 'message')} than this file: left as it is there (--force sends this version)`

/** What was sent of a session, from any source. */
const sentOf = (session: SessionKey, sent: SentSession | undefined): SentSession =>
  sent ?? { ...session, externalId: session.sessionId, status: 'new', fields: new Map(), files: new Map() }

/** `--force` begins as if nothing was ever sent. */
const stateOf = ({ force }: Run, { stored }: SessionRun, { states }: Destination, key: SessionKey): SessionState => ({
  ...sentOf(key, force ? undefined : states.find(key)),
  source: stored.source,
  files: new Map(stored.files.map(({ path }) => [path, undefined])),
})

/**
 * Says whether a title is the one that was sent last from here. Any other may be what a person has called the session, and stays, also with `--force`
 * and where the record of what was sent is lost.
 */
const titlesSent = ({ states }: Destination, key: SessionKey) => {
  const last = states.find(key)?.fields.get('title')
  return (stored: string): boolean => digest(stored) === last
}

/** Stores what was sent of a session, after so many messages were read. */
const storeProgress = (
  run: Run,
  { agent, stored }: SessionRun,
  { state, destination: { states } }: Upload,
  { session, live }: ReadResult,
  messages: number,
): void => {
  if (run.dryRun) return
  const hasAll = session.isContinued !== true && messages >= states.count(state)
  states.complete({ ...state, files: sentFiles(stored, { agent, redaction: run.redaction }) }, hasAll)
  const reached = live(states)
  if (reached) run.live?.keep(stored.source, reached)
}

/** Throws SessionLost if the trace of a session is gone, of which nothing was to be sent. It is not known from another file than before. */
const requireStillThere = async (upload: Upload): Promise<void> => {
  const { state, destination } = upload
  if (state.status !== 'stored' || state.sentFrom === state.source) return
  if (!(await findOwnTrace(destination.connection, state.externalId))) await throwLost(destination)
}

/** Uploads a session, and reports it to the user. */
const uploadAndReport = async (
  run: Run,
  session: SessionRun,
  upload: Upload,
  read: ReadResult,
): Promise<UploadResult> => {
  const target = run.dryRun ? dryRunTarget : serverTarget
  let isComplete = false
  const sendAll = async () => {
    const sent = await uploadSession(upload, read.session, target, session.newSending)
    isComplete = true
    if (sent.result === 'nothing to send') await requireStillThere(upload)
    return sent
  }
  const erase = async () => {
    session.isErasureOwed = await eraseExposed(upload, isComplete)
  }
  const { result, messages } = await sendAll().finally(erase)
  if (result === 'deleted') upload.state = { ...upload.state, status: 'deleted' }
  storeProgress(run, session, upload, read, messages)
  if (upload.shorter > 0) notice(upload, shorterNotice(upload.shorter))
  if (result === 'deleted') notice(upload, deletedNotice)
  return result
}

/** The title and the project by which the report names a session. */
const reportLabelOf = ({
  trace: { title, projectPath, projectName: project = projectPath },
}: ReadResult['session']) => ({
  ...(title === undefined ? {} : { title }),
  ...(project === undefined ? {} : { project }),
})

/**
 * Sends the new part of a session that was read, and stores it. A session that is known to be deleted needs no request. Throws SessionLost if
 * the service lacks what it had acknowledged.
 */
export const sendSession = async (
  run: Run,
  session: SessionRun,
  destination: Destination,
  read: ReadResult,
): Promise<SentResult> => {
  const key = { agentId: session.agent.id, sessionId: read.session.externalId }
  const { force, dryRun } = run
  const withoutSecrets = read.redacted?.withoutSecrets
  const replacesTitle = titlesSent(destination, key)
  const how = { force, overrules: force, replacesTitle, dryRun, withoutSecrets }
  const upload = newUpload(session, destination, stateOf(run, session, destination, key), how)
  session.about = reportLabelOf(read.session)
  const deletedFrom = !force && upload.state.status === 'new' ? await deletedElsewhere(destination, key) : undefined
  if (deletedFrom !== undefined) {
    upload.state = { ...upload.state, status: 'deleted' }
    notice(upload, deletedThereNotice(deletedFrom, destination))
  }
  if (upload.state.status !== 'deleted') {
    if (force && !dryRun) destination.states.forget(key)
    const result = await uploadAndReport(run, session, upload, read)
    return { status: statusOf[result], externalId: upload.state.externalId }
  }
  storeProgress(run, session, upload, read, 0)
  return { status: 'deleted', externalId: upload.state.externalId }
}
