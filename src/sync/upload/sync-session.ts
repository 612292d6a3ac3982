import type { Agent, Session, StoredSession } from '../agents/agent.ts'
import type { FileStatus, Reporter } from '../report/events.ts'
import { type Redaction, type RedactionOptions, redactSession } from '../redaction/session.ts'
import type { Destination, DestinationOf } from './destination.ts'
import { type FileState, stampOf } from './file-states.ts'
import { type FileCounts, type UploadContext, dryRunTarget, newFileCounts, serverTarget } from './targets.ts'
import { type UploadResult, uploadSession } from './upload-session.ts'
import { findOwnTrace } from './upsert-trace.ts'

/** The settings of a run. With `force` everything is uploaded again. */
export type SyncJob = {
  readonly destinationOf: DestinationOf
  /** How secrets are taken out; undefined when they are not. */
  readonly redaction: RedactionOptions | undefined
  readonly dryRun: boolean
  readonly force: boolean
  readonly report: Reporter
}

/** The upload of one session: where it goes, once that is known, and what was counted. */
export type SessionRun = { readonly counts: FileCounts; destination?: Destination }

export const newSessionRun = (): SessionRun => ({ counts: newFileCounts() })

type Result = { readonly status: FileStatus; readonly externalId?: string }

const statusOf = {
  sent: 'synced',
  'nothing to send': 'unchanged',
  empty: 'empty',
  deleted: 'deleted',
} as const satisfies Record<UploadResult, FileStatus>

const deletedNotice = 'its trace was deleted on the server: not uploaded again (--force does)'

/** Updates only the visibility of an unchanged session's trace, when the user asks for another one now. */
const updateVisibility = async (
  { dryRun, report }: SyncJob,
  { connection, visibility }: Destination,
  { path, externalId, stored }: FileState,
): Promise<FileStatus> => {
  if (!stored || visibility === undefined) return 'unchanged'
  const trace = await findOwnTrace(connection, externalId)
  if (!trace) {
    report({ type: 'notice', file: path, externalId, message: deletedNotice })
    return 'deleted'
  }
  if (trace.visibility === visibility) return 'unchanged'
  if (!dryRun) await connection.api.patchTrace(externalId, { visibility })
  return 'synced'
}

/** The stored state if it belongs to this session, else an empty one. Without a stamp until the upload is complete. */
const initialState = (path: string, { externalId }: Session, stored: FileState | undefined): FileState => {
  if (stored?.sessionId === externalId) return { ...stored, stamp: undefined }
  return { path, sessionId: externalId, externalId, stored: false, fields: new Map(), messages: new Map() }
}

/** So many are told of in the text that a person reads. */
const NAMED = 3

const redactionNotice = (redactions: readonly Redaction[]): string => {
  const named = redactions
    .slice(0, NAMED)
    .map(
      ({ rule, externalId, where, hash }) =>
        `${rule} in ${externalId ? `message ${externalId}, ` : ''}${where} (${hash.slice(0, 12)})`,
    )
  const more = redactions.length - named.length
  return `secrets taken out: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** Takes the secrets out of a session, where the job asks for that, and reports them. */
const withoutSecrets = async (job: SyncJob, source: string, read: Session, counts: FileCounts): Promise<Session> => {
  if (!job.redaction) return read
  const { session, redactions } = await redactSession(read, job.redaction)
  counts.redacted += redactions.length
  for (const redaction of redactions) job.report({ type: 'redaction', file: source, ...redaction })
  if (redactions.length > 0)
    job.report({ type: 'notice', file: source, externalId: read.externalId, message: redactionNotice(redactions) })
  return session
}

const uploadAndStore = async (
  job: SyncJob,
  context: UploadContext,
  state: FileState,
  stamp: string,
  session: Session,
  counts: FileCounts,
) => {
  const target = (job.dryRun ? dryRunTarget : serverTarget)(context, state, counts)
  const status = statusOf[await uploadSession(session, state, target)]
  if (!job.dryRun) await context.states.write({ ...state, stamp })
  if (status === 'deleted')
    job.report({ type: 'notice', file: state.path, externalId: state.externalId, message: deletedNotice })
  return status
}

/**
 * Uploads what is new in one session, and adds to `counts`. An unchanged one is not read. Throws RequestFailed, and what
 * reading throws; what the server acknowledged until then is recorded, so that the next run continues there.
 */
export const syncSession = async (
  job: SyncJob,
  agent: Agent,
  session: StoredSession,
  run: SessionRun,
): Promise<Result> => {
  const { force, report } = job
  const { counts } = run
  const { source } = session
  const destination = await job.destinationOf({ source, agentId: agent.id })
  if ('notSent' in destination) return { status: 'excluded' }
  run.destination = destination
  const { states } = destination
  const stamp = stampOf(agent, session, job.redaction)
  const stored = force ? undefined : await states.read(source)
  if (stored?.stamp === stamp)
    return { status: await updateVisibility(job, destination, stored), externalId: stored.externalId }
  const onMalformed = (line: number) => {
    counts.skippedLines++
    report({ type: 'problem', kind: 'line_skipped', file: source, line, message: 'not one JSON object: line skipped' })
  }
  const read = await withoutSecrets(job, source, await session.read({ onMalformed }), counts)
  const state = initialState(source, read, stored)
  const status = await uploadAndStore(job, { ...destination, report }, state, stamp, read, counts)
  return { status, externalId: state.externalId }
}
