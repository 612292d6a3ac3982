import type { Reporter } from '../report/events.ts'
import type { Redacted } from '../redaction/session.ts'
import type { SessionState } from '../state/session-states.ts'
import type { Destination } from './destination.ts'
import { bytesOf } from './batches.ts'
import { compareMessage } from './compare.ts'
import type { EncodedMessage } from './encode.ts'
import type { Sending } from './sending.ts'
import type { newReadMessages, StoredMessage, StoredMessages } from './stored-messages.ts'
import type { Target } from './upload-session.ts'
import type { VisibilityChange } from './upsert-trace.ts'

/** Running counts of one file's upload: messages, those of them that were new or updated, and what was left or taken out. */
export type FileCounts = {
  messages: number
  new: number
  updated: number
  leftOut: number
  skippedLines: number
  /** How many sessions have no line that is understood. */
  notUnderstood: number
  redacted: number
  /** How many sessions had sent a secret before it was known as one. */
  exposed: number
}

export const newFileCounts = (): FileCounts => ({
  messages: 0,
  new: 0,
  updated: 0,
  leftOut: 0,
  skippedLines: 0,
  notUnderstood: 0,
  redacted: 0,
  exposed: 0,
})

type Batch = readonly EncodedMessage[]

/** The secrets that are taken out of a trace: its past has them. */
export type OwedErasure = {
  /** Stores that the past has to be erased, before anything is sent that takes secrets out. `hashes` are those that are known. */
  readonly owe: (hashes: readonly string[]) => Promise<void>
  /** Whether secrets were taken out. */
  readonly isOwed: () => boolean
  /** The hashes of those that are known. */
  readonly hashes: () => readonly string[]
}

/** The upload of one session. `state` is what the server has of it, and is updated after each batch. */
export type Upload = {
  readonly destination: Destination
  state: SessionState
  readonly noteOf: Target['noteOf']
  /** Finds the secrets in what the service has; undefined where no secrets are known. */
  readonly withoutSecrets?: Redacted['withoutSecrets'] | undefined
  readonly owed: OwedErasure
  /** Whether everything is sent as it is, whatever the service has. */
  readonly force: boolean
  /** Whether a field of the trace that was never compared with the service stays as it is there. */
  readonly keepsFields: boolean
  /** Whether a deleted trace stays deleted. */
  readonly unlessDeleted: boolean
  /** Messages that the service has, and of which the notes do not say what: compared before they are sent. The newest list is the first. */
  readonly unknown: StoredMessages[]
  readonly readMessages: ReturnType<typeof newReadMessages>
  /** How many messages are shorter here than there. */
  shorter: number
  /** Whether the messages that the service has were counted, to notice missing ones. */
  isCountChecked: boolean
  /** Whether anything was written, or would be. */
  hasWritten: boolean
  readonly counts: FileCounts
  readonly report: Reporter
  /** The losses that were not reported to the user before; undefined if all are reported. */
  readonly newLosses?: (losses: readonly string[]) => readonly string[]
  /** Called with the visibility that the trace has, or would have in a dry run. */
  readonly onVisibility?: (change: VisibilityChange) => void
}

export type Send = (batch: Batch) => Promise<void>
/** Makes a queue of batches from a function that sends one. */
export type NewSending = (send: Send) => Sending

export const reportOmission =
  ({ state, counts, report, newLosses }: Upload): Target['reportOmission'] =>
  ({ externalId, line }, why) => {
    if (newLosses?.([`${state.sessionId} message ${externalId}`]).length === 0) return
    counts.leftOut++
    const message = `message ${externalId}: ${why}`
    report({ type: 'problem', kind: 'message_left_out', file: state.source, line, externalId, message })
  }

export const notice = ({ state: { source, externalId }, report }: Upload, message: string): void =>
  report({ type: 'notice', file: source, externalId, message })

/** The parts that both targets have in common. */
export const targetOf = (upload: Upload, upsertTrace: Target['upsertTrace'], sending: Sending): Target => ({
  fieldDigest: (name) => upload.state.fields.get(name),
  noteOf: upload.noteOf,
  isTraceStored: () => upload.state.status === 'stored',
  upsertTrace,
  hasWritten: () => upload.hasWritten,
  sending,
  reportTruncation: (message) => notice(upload, message),
  reportOmission: reportOmission(upload),
})

/** The hashes of the secrets in a field that the service has. */
const secretsIn = ({ withoutSecrets, state }: Upload, text: string): readonly string[] => {
  const parts = [{ type: 'text' as const, content: { text } }]
  return withoutSecrets?.({ externalId: state.externalId, role: 'user', order: 0, parts }).secrets ?? []
}

/** How the trace is changed. */
export const changeOf = (upload: Upload, fields: ReadonlyMap<string, string>) => {
  const { state, destination, keepsFields, unlessDeleted, owed, onVisibility } = upload
  const { visibility, visibilityOfNew } = destination
  return {
    fields: Object.fromEntries(fields),
    visibility,
    visibilityOfNew,
    unlessDeleted,
    stays: (name: string) => keepsFields && !state.fields.has(name),
    takesOut: (texts: readonly string[]) => owed.owe(texts.flatMap((text) => secretsIn(upload, text))),
    ...(onVisibility && { onVisibility }),
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
    upload.report({ type: 'progress', messages: known.length, bytes: bytesOf(known) })
  }
  if (compared.some(({ takesOut }) => takesOut)) await upload.owed.owe(compared.flatMap(({ secrets }) => secrets))
  return compared.flatMap(({ is, message }) => (is === 'sent' ? [message] : []))
}
