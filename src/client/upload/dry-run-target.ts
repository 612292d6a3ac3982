import { bytesOf } from './batches.ts'
import type { TraceSummary } from '../api/client.ts'
import { requireSameLog } from './same-log.ts'
import { listMessages } from './stored-messages.ts'
import { changeOf, compareBatch, type NewSending, type Send, targetOf, type Upload } from './upload.ts'
import type { Target } from './upload-session.ts'
import { fallbackId, findOwnTrace, patchOf, shownBy } from './upsert-trace.ts'

/** The trace that the server has of a session, under the id that it would be sent to. */
const findTrace = async ({ destination: { connection }, state }: Upload): Promise<TraceSummary | undefined> => {
  if (state.status === 'stored') return findOwnTrace(connection, state.externalId)
  for (const externalId of [state.sessionId, fallbackId(state.sessionId, connection)]) {
    const found = await findOwnTrace(connection, externalId)
    if (found) return found
  }
  return undefined
}

/** The target of `--dry-run`: counts what would be sent, and sends nothing. With --force everything is, and what the server has is not called new. */
export const dryRunTarget = (upload: Upload, newSending: NewSending): Target => {
  const { counts, noteOf, report, destination, unknown } = upload
  const isStored = (id: string) => noteOf(id) !== undefined || unknown.some(({ has }) => has(id))
  const upsert: Target['upsertTrace'] = async (changedFields) => {
    const found = await findTrace(upload)
    if (upload.state.status === 'stored' && !found) {
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
    upload.onVisibility?.({
      before: found?.visibility,
      after: destination.visibility ?? found?.visibility ?? 'private',
    })
    return true
  }
  const count: Send = async (batch) => {
    const toSend = await compareBatch(upload, batch, () => {})
    if (toSend.length === 0) return
    upload.hasWritten = true
    const stored = toSend.filter(({ externalId }) => isStored(externalId)).length
    counts.messages += toSend.length
    counts.new += toSend.length - stored
    if (!upload.force) counts.updated += stored
    report({ type: 'progress', messages: toSend.length, bytes: bytesOf(toSend) })
  }
  return targetOf(upload, upsert, newSending(count))
}
