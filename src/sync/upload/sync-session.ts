import type { Agent, Session, StoredSession } from '../agents/agent.ts'
import type { FileStatus } from '../report/events.ts'
import { type FileState, stampOf } from './file-states.ts'
import { type FileCounts, type UploadContext, dryRunTarget, serverTarget } from './targets.ts'
import { type UploadResult, uploadSession } from './upload-session.ts'
import { findOwnTrace } from './upsert-trace.ts'

/** The settings of a run. With `force` everything is uploaded again. */
export type SyncJob = UploadContext & {
  readonly dryRun: boolean
  readonly force: boolean
}

type Result = { readonly status: FileStatus; readonly externalId: string }

const statusOf = {
  sent: 'synced',
  'nothing to send': 'unchanged',
  empty: 'empty',
  deleted: 'deleted',
} as const satisfies Record<UploadResult, FileStatus>

const deletedNotice = 'its trace was deleted on the server: not uploaded again (--force does)'

/** Updates only the visibility of an unchanged session's trace, when the user asks for another one now. */
const updateVisibility = async (job: SyncJob, { path, externalId, stored }: FileState): Promise<FileStatus> => {
  const { connection, visibility, dryRun, report } = job
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

const uploadAndStore = async (job: SyncJob, state: FileState, stamp: string, session: Session, counts: FileCounts) => {
  const target = (job.dryRun ? dryRunTarget : serverTarget)(job, state, counts)
  const status = statusOf[await uploadSession(session, state, target)]
  if (!job.dryRun) await job.states.write({ ...state, stamp })
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
  counts: FileCounts,
): Promise<Result> => {
  const { states, force, report } = job
  const { source } = session
  const stamp = stampOf(agent, session)
  const stored = force ? undefined : await states.read(source)
  if (stored?.stamp === stamp) return { status: await updateVisibility(job, stored), externalId: stored.externalId }
  const onMalformed = (line: number) => {
    counts.skippedLines++
    report({ type: 'problem', kind: 'line_skipped', file: source, line, message: 'not one JSON object: line skipped' })
  }
  const read = await session.read({ onMalformed })
  const state = initialState(source, read, stored)
  const status = await uploadAndStore(job, state, stamp, read, counts)
  return { status, externalId: state.externalId }
}
