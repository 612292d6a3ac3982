import type { FileStatus } from '../report/events.ts'
import { countOf } from '../report/text.ts'
import type { SentSession, SessionKey, SessionState } from '../state/session-states.ts'
import type { Destination } from './destination.ts'
import { dryRunTarget } from './dry-run-target.ts'
import { type ReadResult, stampOf } from './read-session.ts'
import { eraseSentSecrets, newSentSecrets } from './sent-secrets.ts'
import { serverTarget } from './server-target.ts'
import type { SessionRun, SyncJob } from './sync-session.ts'
import { type UploadResult, uploadSession } from './upload-session.ts'
import { notice, type Upload } from './upload.ts'
import type { VisibilityChange } from './upsert-trace.ts'

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

export const deletedNotice = 'its trace was deleted on the service: left alone (--force uploads it again)'

const shorterNotice = (messages: number): string =>
  `the service has more of ${countOf(messages, 'message')} than this file: left as it is there (--force sends this version)`

export const noteVisibility = (run: SessionRun, { before, after }: VisibilityChange): void => {
  const published = after === 'public' && before !== 'public' ? { published: true as const } : {}
  run.about = { ...run.about, visibility: after, ...published }
}

/** What was sent of a session, from any source. */
const sentOf = (session: SessionKey, sent: SentSession | undefined): SentSession =>
  sent ?? { ...session, externalId: session.sessionId, status: 'new', fields: new Map() }

/** `known` was sent before; with `isLost` everything is sent again, as with --force. */
type Before = { readonly known: SessionState; readonly isLost: boolean; readonly read: ReadResult }

const newUpload = (
  { force }: SyncJob,
  run: SessionRun,
  destination: Destination,
  { known, isLost, read: { session, redacted } }: Before,
): Upload => {
  const { states } = destination
  const { agentId, sessionId, source } = known
  const state = force || isLost ? { ...sentOf({ agentId, sessionId }, undefined), source } : known
  const isStored = known.status === 'stored'
  const upload: Upload = {
    destination,
    state,
    messageDigest: state.status === 'stored' ? states.digests(state) : () => undefined,
    sentSecrets: redacted && isStored ? newSentSecrets(session, redacted, { state: known, states }) : undefined,
    unlessDeleted: !force,
    isFirstContact: !force && state.sentFrom !== state.source,
    traceExisted: false,
    shorter: 0,
    isCountChecked: false,
    hasWritten: false,
    counts: run.counts,
    report: run.report,
    onVisibility: (change) => {
      upload.traceExisted = change.before !== undefined
      noteVisibility(run, change)
    },
    newLosses: run.newLosses,
  }
  return upload
}

/** Stores what was sent of a session. An unsure session gets no stamp, so that it is read again also if it does not change. */
const storeProgress = (
  { redaction, dryRun }: SyncJob,
  run: SessionRun,
  upload: Upload,
  { session, resume }: ReadResult,
): void => {
  run.isUnsure = session.isUnsure === true
  if (dryRun) return
  const { state, destination } = upload
  const stamp = run.isUnsure ? undefined : stampOf(run.agent, run.session, redaction)
  destination.states.complete({ ...state, stamp }, resume())
}

/** Uploads a session, and reports it to the user. */
const uploadAndReport = async (
  job: SyncJob,
  run: SessionRun,
  upload: Upload,
  read: ReadResult,
): Promise<UploadResult> => {
  const target = (job.dryRun ? dryRunTarget : serverTarget)(upload, run.newSending)
  let isComplete = false
  const sendAll = async () => {
    const result = await uploadSession(read.session, target)
    isComplete = true
    return result
  }
  // Also after a failure half-way: messages that have arrived are not compared again. A new trace has no history.
  const erase = async () => {
    if (upload.traceExisted) await eraseSentSecrets(run, upload, { isComplete, dryRun: job.dryRun })
  }
  const result = await sendAll().finally(erase)
  storeProgress(job, run, upload, read)
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
 * Sends the new part of a session that was read, and stores it. A session that is known to be deleted needs no request. With `isLost`
 * the whole session is sent, as if it were new. Throws SessionLost if that is needed.
 */
export const sendSession = async (
  job: SyncJob,
  run: SessionRun,
  destination: Destination,
  read: ReadResult,
  isLost = false,
): Promise<SentResult> => {
  const key = { agentId: run.agent.id, sessionId: read.session.externalId }
  const known = { ...sentOf(key, destination.states.find(key)), source: run.session.source }
  const upload = newUpload(job, run, destination, { known, isLost, read })
  run.about = reportLabelOf(read.session)
  if (upload.state.status !== 'deleted') {
    const result = await uploadAndReport(job, run, upload, read)
    return { status: statusOf[result], externalId: upload.state.externalId }
  }
  storeProgress(job, run, upload, read)
  return { status: 'deleted', externalId: known.externalId }
}
