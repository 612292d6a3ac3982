import type { TraceSummary, UpsertCounts } from '../api/client.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import { digest } from '../digest.ts'
import type { Reporter } from '../report/events.ts'
import type { SessionState } from '../state/session-states.ts'
import type { Destination } from './destination.ts'
import type { EncodedMessage } from './encode.ts'
import { requireSameLog } from './same-log.ts'
import type { Sending } from './sending.ts'
import type { Target } from './upload-session.ts'
import { fallbackId, findOwnTrace, upsertTrace, updateTrace, type VisibilityChange } from './upsert-trace.ts'

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

/** The upload of one session. `state` is what the server has of it, and follows what is sent. */
export type Upload = {
  readonly destination: Destination
  state: SessionState
  readonly messageDigest: Target['messageDigest']
  readonly counts: FileCounts
  readonly report: Reporter
  /** Those of some losses that the user was not told of before; undefined where all are told. */
  readonly newLosses?: (losses: readonly string[]) => readonly string[]
  /** Is told who may read the trace, or would after a dry run. */
  readonly onVisibility?: (change: VisibilityChange) => void
}

const bytesOf = (batch: readonly EncodedMessage[]): number => batch.reduce((sum, { bytes }) => sum + bytes, 0)

type Send = (batch: readonly EncodedMessage[]) => Promise<void>
/** Gives what sends batches in one way all that it needs besides. */
export type NewSending = (send: Send) => Sending

const reportOmission =
  ({ state, counts, report, newLosses }: Upload): Target['reportOmission'] =>
  ({ externalId, line }, why) => {
    if (newLosses?.([`${state.sessionId} message ${externalId}`]).length === 0) return
    counts.leftOut++
    const message = `message ${externalId}: ${why}`
    report({ type: 'problem', kind: 'message_left_out', file: state.source, line, externalId, message })
  }

const notice = ({ state: { source, externalId }, report }: Upload, message: string): void =>
  report({ type: 'notice', file: source, externalId, message })

/** What both targets do alike. */
const targetOf = (upload: Upload, upsertTrace: Target['upsertTrace'], sending: Sending): Target => ({
  fieldDigest: (name) => upload.state.fields.get(name),
  messageDigest: upload.messageDigest,
  isTraceStored: () => upload.state.stored,
  upsertTrace,
  sending,
  reportTruncation: (message) => notice(upload, message),
  reportOmission: reportOmission(upload),
})

/** The trace that the server has of a session, under the id that it would be sent to. */
const findTrace = async ({ destination: { connection }, state }: Upload): Promise<TraceSummary | undefined> => {
  if (state.stored) return findOwnTrace(connection, state.externalId)
  for (const externalId of [state.sessionId, fallbackId(state.sessionId, connection)]) {
    const found = await findOwnTrace(connection, externalId)
    if (found) return found
  }
  return undefined
}

/**
 * The target of `--dry-run`: counts what would be sent, and sends nothing. Where it is not known which messages were sent, as
 * with --force, as many as the server has are not called new.
 */
export const dryRunTarget = (upload: Upload, newSending: NewSending): Target => {
  const { counts, messageDigest, report, destination } = upload
  let unknown = 0
  const upsert: Target['upsertTrace'] = async () => {
    const found = await findTrace(upload)
    if (upload.state.stored && !found) {
      await requireSameLog(destination)
      return false
    }
    if (!upload.state.stored) unknown = found?.messageCount ?? 0
    upload.onVisibility?.({
      before: found?.visibility,
      after: destination.visibility ?? found?.visibility ?? 'private',
    })
    return true
  }
  const count: Send = async (batch) => {
    const updated = batch.filter(({ externalId }) => messageDigest(externalId) !== undefined).length
    const again = Math.min(unknown, batch.length - updated)
    unknown -= again
    counts.messages += batch.length
    counts.new += batch.length - updated - again
    counts.updated += updated
    report({ type: 'progress', messages: batch.length, bytes: bytesOf(batch) })
  }
  return targetOf(upload, upsert, newSending(count))
}

/** Updates the stored trace, or creates it and notes its id. False when a stored trace was deleted since. */
const ensureTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<boolean> => {
  const { connection, visibility, visibilityOfNew } = upload.destination
  const { sessionId, stored } = upload.state
  const { onVisibility } = upload
  const change = {
    fields: Object.fromEntries(changedFields),
    visibility,
    visibilityOfNew,
    ...(onVisibility && { onVisibility }),
  }
  if (stored) {
    const isThere = await updateTrace(connection, upload.state.externalId, change)
    if (!isThere) await requireSameLog(upload.destination)
    return isThere
  }
  const externalId = await upsertTrace(connection, sessionId, change)
  if (externalId === undefined) {
    const ids = `${sessionId} and ${fallbackId(sessionId, connection)}`
    throw new RequestFailed(`another user has the ids ${ids}`, { status: 409 })
  }
  upload.state = { ...upload.state, externalId, stored: true }
  if (externalId !== sessionId) notice(upload, `another user has the id ${sessionId}: stored as ${externalId}`)
  return true
}

/** Counts a batch that the server has stored, and remembers it, so that the next run does not send it again. */
const acknowledge = (upload: Upload, batch: readonly EncodedMessage[], result: UpsertCounts): void => {
  const { state, counts, destination, report } = upload
  const { created, updated, unchanged } = result
  counts.messages += created + updated + unchanged
  counts.new += created
  counts.updated += updated
  destination.states.acknowledge(state.source, batch)
  report({ type: 'progress', messages: batch.length, bytes: bytesOf(batch) })
}

/**
 * Sends a batch. The server refuses the whole batch for one invalid message; then both halves are sent, down to that message,
 * which is left out.
 */
export const sendBatch = async (upload: Upload, batch: readonly EncodedMessage[]): Promise<void> => {
  const { api } = upload.destination.connection
  const texts = batch.map(({ json }) => json)
  const result = await api.upsertMessages(upload.state.externalId, texts).catch((error: unknown) => {
    if (!hasStatus(error, 400, 413)) throw error
    return error
  })
  if (!(result instanceof RequestFailed)) return acknowledge(upload, batch, result)
  if (batch.length === 1)
    return reportOmission(upload)(batch[0]!, `the server refused it (${result.message}): left out`)
  const half = Math.ceil(batch.length / 2)
  await sendBatch(upload, batch.slice(0, half))
  await sendBatch(upload, batch.slice(half))
}

/** The server as target. After each request it is remembered what the server has acknowledged. */
export const serverTarget = (upload: Upload, newSending: NewSending): Target => {
  const upsert: Target['upsertTrace'] = async (changedFields) => {
    if (!(await ensureTrace(upload, changedFields))) return false
    const digests = [...changedFields].map(([name, value]) => [name, digest(value)] as const)
    upload.state = { ...upload.state, fields: new Map([...upload.state.fields, ...digests]) }
    upload.destination.states.write(upload.state)
    return true
  }
  return targetOf(
    upload,
    upsert,
    newSending((batch) => sendBatch(upload, batch)),
  )
}
