import { bytesOf } from './batches.ts'
import type { TraceSummary } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import { requireSameLog } from './same-log.ts'
import { listMessages } from './stored-messages.ts'
import { changeOf, compareBatch } from './changes.ts'
import type { EncodedMessage } from './encode.ts'
import { noteVisibility, type Target, type Upload } from './upload.ts'
import { findOwnTrace, patchOf, shownBy } from './upsert-trace.ts'

/** The trace that the server has of a session, under the id that it would be sent to. */
const findTrace = ({ destination: { connection }, state }: Upload): Promise<TraceSummary | undefined> =>
  findOwnTrace(connection, state.status === 'stored' ? state.externalId : state.sessionId)

/** Throws RequestFailed with `movedTo` if the trace was moved. */
const requireNotMoved = async ({ destination: { connection }, state: { externalId } }: Upload): Promise<void> => {
  await connection.api.trace(externalId, connection.namespaceSlug).catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error
  })
}

const upsertTrace = async (upload: Upload, changedFields: ReadonlyMap<string, string>): Promise<boolean> => {
  const { session, destination, unknown } = upload
  const found = await findTrace(upload)
  if (upload.state.status === 'stored' && !found) {
    await requireNotMoved(upload)
    await requireSameLog(destination)
    return false
  }
  const change = changeOf(upload, changedFields)
  const patch = found && patchOf(change, found)
  if (found && upload.state.revision === undefined) {
    const listed = await listMessages(destination.connection, found.externalId)
    if (listed) unknown.push(listed)
  }
  if (patch && shownBy(patch, found).length > 0) await change.takesOut(shownBy(patch, found))
  upload.hasWritten = !patch || Object.keys(patch).length > 0
  noteVisibility(session, {
    before: found?.visibility,
    after: destination.visibility ?? found?.visibility ?? 'private',
  })
  return true
}

/** Counts messages. With --force all would be sent, and what the server has is not called new. */
const count = async (upload: Upload, batch: readonly EncodedMessage[]): Promise<void> => {
  const { noteOf, unknown, session } = upload
  const { counts, report } = session
  const toSend = await compareBatch(upload, batch, () => {})
  if (toSend.length === 0) return
  upload.hasWritten = true
  const isStored = (id: string) => noteOf(id) !== undefined || unknown.some(({ has }) => has(id))
  const stored = toSend.filter(({ externalId }) => isStored(externalId)).length
  counts.messages += toSend.length
  counts.new += toSend.length - stored
  if (!upload.force) counts.updated += stored
  report({ type: 'progress', messages: toSend.length, bytes: bytesOf(toSend) })
}

/** The target of `--dry-run`: counts what would be sent, and sends nothing. */
export const dryRunTarget: Target = { upsertTrace, send: count }
