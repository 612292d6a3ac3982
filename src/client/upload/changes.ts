import { bytesOf } from './batches.ts'
import { compareMessage } from './compare.ts'
import type { EncodedMessage } from './encode.ts'
import { owe } from './owed-erasures.ts'
import type { StoredMessage } from './stored-messages.ts'
import { noteVisibility, type Upload } from './upload.ts'
import type { VisibilityChange } from './upsert-trace.ts'

type Batch = readonly EncodedMessage[]

/** The hashes of the secrets in a field that the service has. */
const secretsIn = ({ withoutSecrets, state }: Upload, text: string): readonly string[] => {
  const parts = [{ type: 'text' as const, content: { text } }]
  return withoutSecrets?.({ externalId: state.externalId, role: 'user', order: 0, parts }).secrets ?? []
}

/** How the trace is changed. */
export const changeOf = (upload: Upload, fields: ReadonlyMap<string, string>) => {
  const { session, state, destination, overrules, replacesTitle } = upload
  const { visibility, visibilityOfNew } = destination
  return {
    fields: Object.fromEntries(fields),
    visibility,
    visibilityOfNew,
    unlessDeleted: !overrules,
    stays: (name: string, stored: string) =>
      name === 'title' ? !replacesTitle(stored) : !overrules && !state.fields.has(name),
    onTitle: (stays: boolean) => void (upload.isTitleLeft = stays),
    takesOut: (texts: readonly string[]) =>
      owe(
        upload,
        texts.flatMap((text) => secretsIn(upload, text)),
      ),
    onVisibility: (change: VisibilityChange) => noteVisibility(session, change),
  }
}

/**
 * Whether a message is compared with what the service has before it is sent: if another machine has sent that, or another file of the session, or
 * if it may show a secret that this message has not. All else that the service has is an earlier version of it.
 */
const isCompared =
  ({ state, noteOf, unknown }: Upload) =>
  ({ externalId, json }: EncodedMessage): boolean => {
    if (unknown.some(({ has }) => has(externalId))) return true
    const note = noteOf(externalId)
    return (
      note !== undefined && (note.isTheirs === true || state.sentFrom !== state.source || json.includes('[redacted:'))
    )
  }

/** What the service has of some messages. */
const readStored = async (
  { destination: { connection }, state: { externalId }, unknown, readMessages }: Upload,
  batch: Batch,
): Promise<ReadonlyMap<string, StoredMessage>> => {
  const found = new Map<string, StoredMessage>()
  let ids = batch.map((message) => message.externalId)
  for (const listed of unknown) {
    for (const [id, message] of await listed.read(ids)) found.set(id, message)
    ids = ids.filter((id) => !listed.has(id))
  }
  for (const [id, message] of await readMessages(connection, externalId, ids)) found.set(id, message)
  return found
}

/**
 * Compares a batch with what the service has, and returns what of it is to be sent. `note` gets what is not: the service has it, or more.
 * Before that is returned the duty is stored that follows from it, if it takes out a secret.
 */
export const compareBatch = async (upload: Upload, batch: Batch, note: (batch: Batch) => void): Promise<Batch> => {
  const toCompare = batch.filter(isCompared(upload))
  if (toCompare.length === 0) return batch
  const stored = await readStored(upload, toCompare)
  const { withoutSecrets, force } = upload
  const compared = batch.map((message) => {
    const found = stored.get(message.externalId)
    return found
      ? compareMessage(message, found, { withoutSecrets, force })
      : ({ is: 'sent', message, takesOut: false, secrets: [] } as const)
  })
  const known = compared.flatMap(({ is, message }) => (is === 'sent' ? [] : [message]))
  upload.shorter += compared.filter(({ is }) => is === 'left').length
  if (known.length > 0) {
    note(known)
    upload.session.report({ type: 'progress', messages: known.length, bytes: bytesOf(known) })
  }
  if (compared.some(({ takesOut }) => takesOut))
    await owe(
      upload,
      compared.flatMap(({ secrets }) => secrets),
    )
  return compared.flatMap(({ is, message }) => (is === 'sent' ? [message] : []))
}
