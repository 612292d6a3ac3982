import type { UpsertCounts } from '../api/client.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import { digest } from '../digest.ts'
import type { Reporter } from '../report/events.ts'
import type { EncodedMessage } from './encode.ts'
import type { Destination } from './destination.ts'
import type { FileState } from './file-states.ts'
import type { Target } from './upload-session.ts'
import { fallbackId, upsertTrace, updateTrace } from './upsert-trace.ts'

/** Running counts of one file's upload: messages, those of them that were new or updated, and what was left or taken out. */
export type FileCounts = {
  messages: number
  new: number
  updated: number
  leftOut: number
  skippedLines: number
  redacted: number
}

export const newFileCounts = (): FileCounts => ({
  messages: 0,
  new: 0,
  updated: 0,
  leftOut: 0,
  skippedLines: 0,
  redacted: 0,
})

/** Where a session goes, and who is told of it. */
export type UploadContext = Destination & { readonly report: Reporter }

const reportOmission =
  (report: Reporter, state: FileState, counts: FileCounts): Target['reportOmission'] =>
  ({ externalId, line }, why) => {
    counts.leftOut++
    const message = `message ${externalId}: ${why}`
    report({ type: 'problem', kind: 'message_left_out', file: state.path, line, externalId, message })
  }

const reportTruncation =
  (report: Reporter, { path, externalId }: FileState): Target['reportTruncation'] =>
  (message) =>
    report({ type: 'notice', file: path, externalId, message })

/** The target of `--dry-run`: counts what would be sent, and sends nothing. */
export const dryRunTarget = ({ report }: UploadContext, state: FileState, counts: FileCounts): Target => ({
  upsertTrace: async () => true,
  sendBatch: async (batch) => {
    const updated = batch.filter(({ externalId }) => state.messages.has(externalId)).length
    counts.messages += batch.length
    counts.new += batch.length - updated
    counts.updated += updated
    report({ type: 'progress', messages: batch.length })
  },
  reportTruncation: reportTruncation(report, state),
  reportOmission: reportOmission(report, state, counts),
})

/** Updates the stored trace, or creates it and notes its id in `state`. False when a stored trace was deleted since. */
const ensureTrace = async (
  { connection, visibility, report }: UploadContext,
  state: FileState,
  changedFields: ReadonlyMap<string, string>,
) => {
  const change = { fields: Object.fromEntries(changedFields), visibility }
  if (state.stored) return updateTrace(connection, state.externalId, change)
  const externalId = await upsertTrace(connection, state.sessionId, change)
  if (externalId === undefined) {
    const ids = `${state.sessionId} and ${fallbackId(state.sessionId, connection)}`
    throw new RequestFailed(`another user has the ids ${ids}`, { status: 409 })
  }
  if (externalId !== state.sessionId) {
    const message = `another user has the id ${state.sessionId}: stored as ${externalId}`
    report({ type: 'notice', file: state.path, externalId, message })
  }
  state.externalId = externalId
  state.stored = true
  return true
}

/** The upload of one file. */
type Upload = UploadContext & {
  readonly state: FileState
  readonly counts: FileCounts
  readonly omit: Target['reportOmission']
}

/** Counts a batch that the server has stored, and remembers it, so that the next run does not send it again. */
const acknowledge = async (upload: Upload, batch: readonly EncodedMessage[], result: UpsertCounts): Promise<void> => {
  const { state, counts, states, report } = upload
  const { created, updated, unchanged } = result
  counts.messages += created + updated + unchanged
  counts.new += created
  counts.updated += updated
  for (const message of batch) state.messages.set(message.externalId, message.digest)
  await states.write(state)
  report({ type: 'progress', messages: batch.length })
}

/**
 * Sends a batch. The server refuses the whole batch for one invalid message; then both halves are sent, down to that message,
 * which is left out.
 */
const sendOrSplit = async (upload: Upload, batch: readonly EncodedMessage[]): Promise<void> => {
  const { connection, state, omit } = upload
  const texts = batch.map(({ json }) => json)
  const result = await connection.api.upsertMessages(state.externalId, texts).catch((error: unknown) => {
    if (!hasStatus(error, 400, 413)) throw error
    return error
  })
  if (!(result instanceof RequestFailed)) return acknowledge(upload, batch, result)
  if (batch.length === 1) return omit(batch[0]!, `the server refused it (${result.message}): left out`)
  const half = Math.ceil(batch.length / 2)
  await sendOrSplit(upload, batch.slice(0, half))
  await sendOrSplit(upload, batch.slice(half))
}

/** The server as target. After each request the state file records what the server has acknowledged. */
export const serverTarget = (context: UploadContext, state: FileState, counts: FileCounts): Target => {
  const omit = reportOmission(context.report, state, counts)
  const upload: Upload = { ...context, state, counts, omit }
  return {
    upsertTrace: async (changedFields) => {
      if (!(await ensureTrace(context, state, changedFields))) return false
      for (const [name, value] of changedFields) state.fields.set(name, digest(value))
      await context.states.write(state)
      return true
    },
    sendBatch: (batch) => sendOrSplit(upload, batch),
    reportTruncation: reportTruncation(context.report, state),
    reportOmission: omit,
  }
}
