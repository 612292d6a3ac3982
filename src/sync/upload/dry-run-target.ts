import { bytesOf } from './batches.ts'
import type { TraceSummary } from '../api/client.ts'
import { newComparison } from './first-contact.ts'
import { requireNotLost } from './same-log.ts'
import { changeOf, comparing, type NewSending, type Send, targetOf, type Upload } from './upload.ts'
import type { Target } from './upload-session.ts'
import { fallbackId, findOwnTrace, patchOf } from './upsert-trace.ts'

/** The trace that the server has of a session, under the id that it would be sent to. */
const findTrace = async ({ destination: { connection }, state }: Upload): Promise<TraceSummary | undefined> => {
  if (state.status === 'stored') return findOwnTrace(connection, state.externalId)
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
  const upsert: Target['upsertTrace'] = async (changedFields) => {
    const found = await findTrace(upload)
    if (upload.state.status === 'stored' && !found) {
      await requireNotLost(destination)
      return false
    }
    if (found && upload.isFirstContact) upload.compare = newComparison(destination.connection, found.externalId)
    else if (upload.state.status === 'new') unknown = found?.messageCount ?? 0
    upload.hasWritten = !found || Object.keys(patchOf(changeOf(upload, changedFields), found)).length > 0
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
  return targetOf(upload, upsert, newSending(comparing(upload, () => {}, count)))
}
