import { bytesOf } from './batches.ts'
import type { UpsertCounts } from '../api/client.ts'
import { hasStatus, isTemporaryFailure, RequestFailed } from '../api/errors.ts'
import { digest } from '../digest.ts'
import { MAYBE_SENT } from '../state/session-states.ts'
import type { EncodedMessage } from './encode.ts'
import {
  catchUp,
  expecting,
  noteStored,
  revisionAfterBatch,
  revisionAfterPatch,
  setRevision,
} from './expected-revision.ts'
import { SessionLost, throwLost } from './same-log.ts'
import { changeOf, compareBatch } from './changes.ts'
import { reportOmission, type Target, type Upload } from './upload.ts'
import { createTrace, type Upserted, updateTrace } from './upsert-trace.ts'

/** Updates the fields of a trace; undefined if the namespace has none of this id. */
const updateFields = async (upload: Upload, changedFields: ReadonlyMap<string, string>) => {
  const { destination } = upload
  return expecting(upload, async () => {
    const { externalId, revision } = upload.state
    const updated = await updateTrace(destination.connection, externalId, {
      ...changeOf(upload, changedFields),
      ifRevision: revision,
    })
    if (updated?.revision !== undefined) setRevision(upload, revisionAfterPatch(revision, updated))
    return updated?.upserted
  })
}

/**
 * Creates the trace of a session that was never sent, or updates it if there is one: then it was sent from another machine, or before what was
 * recorded here. Undefined if it is gone meanwhile.
 */
const enterTrace = async (
  upload: Upload,
  changedFields: ReadonlyMap<string, string>,
): Promise<Upserted | undefined> => {
  const { connection, states } = upload.destination
  const externalId = upload.state.sessionId
  upload.state = { ...upload.state, externalId, revision: undefined }
  return expecting(upload, async () => {
    if (upload.state.revision !== undefined || (await catchUp(upload))) return updateFields(upload, changedFields)
    const created = await createTrace(connection, externalId, changeOf(upload, changedFields))
    if (created.upserted !== 'created') return created.upserted
    // The notes are about an earlier trace.
    states.forget(upload.state)
    upload.state = { ...upload.state, revision: created.revision }
    noteStored(upload)
    return 'created'
  })
}

/** Updates the stored trace, or creates it. False when a stored trace was deleted since. */
const ensureTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<boolean> => {
  const { state, destination } = upload
  const isStored = state.status === 'stored'
  const isKnown = !isStored || state.revision !== undefined || (await catchUp(upload))
  const upserted = isKnown && (await (isStored ? updateFields : enterTrace)(upload, changedFields))
  if (!upserted) return throwLost(destination)
  if (upserted === 'deleted') {
    upload.state = { ...upload.state, status: 'deleted' }
    return false
  }
  upload.hasWritten ||= upserted !== 'unchanged'
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
  const noteOf = known === 0 ? () => undefined : destination.states.notes(state)
  const isKnown = (id: string) => (noteOf(id)?.digest ?? MAYBE_SENT).length > 0
  const added = new Set(batch.map(({ externalId }) => externalId).filter((id) => !isKnown(id)))
  if (messageCount < known + added.size) throw new SessionLost()
}

/** Counts a batch that the server has stored, and remembers it, so that the next run does not send it again. */
const acknowledge = (upload: Upload, batch: readonly EncodedMessage[], result: UpsertCounts): void => {
  const { state, session, destination } = upload
  const { counts, report } = session
  requireAcknowledged(upload, batch, result)
  const { created, updated, unchanged } = result
  counts.messages += created + updated + unchanged
  counts.new += created
  counts.updated += updated
  setRevision(upload, revisionAfterBatch(state.revision, result), batch)
  destination.states.noteWrite(destination.connection.api.position())
  report({ type: 'progress', messages: batch.length, bytes: bytesOf(batch) })
}

/**
 * Sends a batch. The server refuses the whole batch for one invalid message; then both halves are sent, down to that message,
 * which is left out.
 */
const sendBatch = async (upload: Upload, batch: readonly EncodedMessage[]): Promise<void> => {
  const { api, namespaceSlug } = upload.destination.connection
  const texts = batch.map(({ json }) => json)
  const { externalId, revision } = upload.state
  const result = await api.upsertMessages(namespaceSlug, externalId, texts, revision).catch((error: unknown) => {
    // It may have arrived.
    if (isTemporaryFailure(error))
      setRevision(
        upload,
        revision,
        batch.map((message) => ({ ...message, digest: MAYBE_SENT, isTheirs: true })),
      )
    if (!hasStatus(error, 400, 413)) throw error
    return error
  })
  if (!(result instanceof RequestFailed)) return acknowledge(upload, batch, result)
  if (batch.length === 1)
    return reportOmission(upload, batch[0]!, `the server refused it (${result.message}): left out`)
  const half = Math.ceil(batch.length / 2)
  await sendBatch(upload, batch.slice(0, half))
  await sendBatch(upload, batch.slice(half))
}

/** Sends those messages of a batch that the service lacks, or has less of, and notes what it has of the others. */
const compareAndSend = async (upload: Upload, batch: readonly EncodedMessage[]): Promise<void> => {
  let rest = batch
  await expecting(upload, async () => {
    rest = await compareBatch(upload, rest, (known) => setRevision(upload, upload.state.revision, known))
    if (rest.length === 0) return
    upload.hasWritten = true
    await sendBatch(upload, rest)
  })
}

const upsertTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<boolean> => {
  if (!(await ensureTrace(upload, changedFields))) return false
  const { connection, states } = upload.destination
  // Noted of a title is which one the service has from here: any other stays.
  const isNoted = (name: string) => name !== 'title' || !upload.isTitleLeft
  const digests = [...changedFields].flatMap(([name, value]) => (isNoted(name) ? [[name, digest(value)] as const] : []))
  upload.state = { ...upload.state, fields: new Map([...upload.state.fields, ...digests]) }
  states.write(upload.state)
  states.noteWrite(connection.api.position())
  return true
}

/** The server as target. After each request it is remembered what the server has acknowledged. */
export const serverTarget: Target = { upsertTrace, send: compareAndSend }
