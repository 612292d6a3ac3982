import type { Agent, Session } from '../agents/agent.ts'
import { ownTrace } from './upsert-trace.ts'
import type { FileStatus } from '../report/events.ts'
import { type FileState, sameStamp, type Stamp, stampOf } from './file-states.ts'
import { type Counter, type Destination, rehearsal, server } from './targets.ts'
import { type Uploaded, uploadSession } from './upload-session.ts'

/** How a run treats each file. `force`: as if nothing had been uploaded before. */
export type Job = Destination & { readonly agent: Agent; readonly dryRun: boolean; readonly force: boolean }

type Result = { readonly status: FileStatus; readonly externalId: string }

const statuses = {
  sent: 'synced',
  'nothing to send': 'unchanged',
  empty: 'empty',
  deleted: 'deleted',
} as const satisfies Record<Uploaded, FileStatus>

const gone = 'its trace was deleted on the server: not uploaded again (--force does)'

/** A file that has not changed may still need the visibility that the user asks for now. */
const onlyVisibility = async (job: Job, { path, externalId, stored }: FileState): Promise<FileStatus> => {
  const { connection, visibility, dryRun, report } = job
  if (!stored || visibility === undefined) return 'unchanged'
  const trace = await ownTrace(connection, externalId)
  if (!trace) {
    report({ type: 'notice', file: path, externalId, message: gone })
    return 'deleted'
  }
  if (trace.visibility === visibility) return 'unchanged'
  if (!dryRun) await connection.api.patchTrace(externalId, { visibility })
  return 'synced'
}

const startState = (path: string, { externalId }: Session, known: FileState | undefined): FileState => {
  if (known?.sessionId === externalId) return { ...known, stamp: undefined }
  return { path, sessionId: externalId, externalId, stored: false, fields: new Map(), messages: new Map() }
}

const uploaded = async (job: Job, state: FileState, stamp: Stamp, session: Session, counter: Counter) => {
  const target = (job.dryRun ? rehearsal : server)(job, state, counter)
  const status = statuses[await uploadSession(session, state, target)]
  if (!job.dryRun) await job.states.write({ ...state, stamp })
  if (status === 'deleted')
    job.report({ type: 'notice', file: state.path, externalId: state.externalId, message: gone })
  return status
}

/**
 * Uploads what is new in one session file, counting into `counter`. An unchanged file is not even opened. Throws
 * RequestFailed, and what reading the file throws; all that was acknowledged until then is written down.
 */
export const syncFile = async (job: Job, path: string, counter: Counter): Promise<Result> => {
  const { agent, states, force, report } = job
  const stamp = await stampOf(path, agent)
  const known = force ? undefined : await states.read(path)
  if (known && sameStamp(known.stamp, stamp))
    return { status: await onlyVisibility(job, known), externalId: known.externalId }
  const malformed = (line: number) => {
    counter.skippedLines++
    report({ type: 'problem', kind: 'line_skipped', file: path, line, message: 'not one JSON object: line skipped' })
  }
  const session = await agent.read(path, { size: stamp.size, malformed })
  const state = startState(path, session, known)
  const status = await uploaded(job, state, stamp, session, counter)
  return { status, externalId: state.externalId }
}
