import { bytesOf } from './batches.ts'
import type { UpsertCounts } from '../api/client.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import { digest } from '../digest.ts'
import type { EncodedMessage } from './encode.ts'
import { newComparison } from './first-contact.ts'
import { requireNotLost, SessionLost } from './same-log.ts'
import { changeOf, comparing, type NewSending, notice, reportOmission, targetOf, type Upload } from './upload.ts'
import type { Target } from './upload-session.ts'
import { fallbackId, type Upserted, updateTrace, upsertTrace } from './upsert-trace.ts'

/** Creates or updates the trace of a session that was never sent, and notes its id. */
const enterTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<Upserted> => {
  const { state, destination } = upload
  const { sessionId } = state
  const entered = await upsertTrace(destination.connection, sessionId, changeOf(upload, changedFields))
  if (!entered) {
    const ids = `${sessionId} and ${fallbackId(sessionId, destination.connection)}`
    throw new RequestFailed(`another user has the ids ${ids}`, { status: 409 })
  }
  const { externalId, upserted } = entered
  // The notes are about an earlier trace.
  if (upserted === 'created') destination.states.forget(state)
  upload.state = { ...state, externalId, status: 'stored' }
  if (upserted !== 'deleted' && externalId !== sessionId)
    notice(upload, `another user has the id ${sessionId}: stored as ${externalId}`)
  return upserted
}

/** Updates the stored trace, or creates it. False when a stored trace was deleted since. */
const ensureTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<boolean> => {
  const { state, destination, isFirstContact } = upload
  const upserted =
    state.status === 'stored'
      ? await updateTrace(destination.connection, state.externalId, changeOf(upload, changedFields))
      : await enterTrace(upload, changedFields)
  if (!upserted) await requireNotLost(destination)
  if (!upserted || upserted === 'deleted') {
    upload.state = { ...upload.state, status: 'deleted' }
    return false
  }
  upload.hasWritten ||= upserted !== 'unchanged'
  if (isFirstContact && upserted !== 'created')
    upload.compare = newComparison(destination.connection, upload.state.externalId)
  return true
}

/** Throws SessionLost if the service has fewer messages than it has acknowledged, as after a restored backup. */
const requireAcknowledged = (
  upload: Upload,
  batch: readonly EncodedMessage[],
  { messageCount }: UpsertCounts,
): void => {
  if (upload.isCountChecked) return
  upload.isCountChecked = true
  const { state, destination } = upload
  const known = destination.states.count(state)
  // A new session has no acknowledged messages: so the state need not be asked for each.
  const digestOf = known === 0 ? () => undefined : destination.states.digests(state)
  const added = new Set(batch.map(({ externalId }) => externalId).filter((id) => digestOf(id) === undefined))
  if (messageCount < known + added.size) throw new SessionLost()
}

/** Counts a batch that the server has stored, and remembers it, so that the next run does not send it again. */
const acknowledge = (upload: Upload, batch: readonly EncodedMessage[], result: UpsertCounts): void => {
  const { state, counts, destination, report } = upload
  requireAcknowledged(upload, batch, result)
  const { created, updated, unchanged } = result
  counts.messages += created + updated + unchanged
  counts.new += created
  counts.updated += updated
  destination.states.acknowledge(state, batch)
  destination.states.noteWrite(destination.connection.api.position())
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
  const { states } = upload.destination
  const upsert: Target['upsertTrace'] = async (changedFields) => {
    const { keepsFields } = changeOf(upload, changedFields)
    if (!(await ensureTrace(upload, changedFields))) return false
    // Fields that were left as they are differ when the session is read next, and are sent then.
    const set = keepsFields && upload.compare ? [] : [...changedFields]
    const digests = set.map(([name, value]) => [name, digest(value)] as const)
    upload.state = { ...upload.state, fields: new Map([...upload.state.fields, ...digests]) }
    states.write(upload.state)
    states.noteWrite(upload.destination.connection.api.position())
    return true
  }
  return targetOf(
    upload,
    upsert,
    newSending(
      comparing(
        upload,
        (known) => states.acknowledge(upload.state, known),
        (batch) => sendBatch(upload, batch),
      ),
    ),
  )
}
