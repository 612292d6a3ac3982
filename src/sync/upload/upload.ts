import type { Reporter } from '../report/events.ts'
import type { SessionState } from '../state/session-states.ts'
import type { Destination } from './destination.ts'
import { bytesOf } from './batches.ts'
import type { EncodedMessage } from './encode.ts'
import type { newComparison } from './first-contact.ts'
import type { Sending } from './sending.ts'
import type { SentSecrets } from './sent-secrets.ts'
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

/** The upload of one session. `state` is what the server has of it, and is updated after each batch. */
export type Upload = {
  readonly destination: Destination
  state: SessionState
  readonly messageDigest: Target['messageDigest']
  /** Undefined if no secrets are taken out, or nothing was sent before. */
  readonly sentSecrets?: SentSecrets | undefined
  /** Whether a deleted trace stays deleted. */
  readonly unlessDeleted: boolean
  /** Whether this file was never uploaded to its end, or another file of the same session was uploaded after it. */
  readonly isFirstContact: boolean
  /** Compares messages with a trace that existed before the first contact. */
  compare?: ReturnType<typeof newComparison>
  traceExisted: boolean
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
  messageDigest: upload.messageDigest,
  noteSentSecrets: upload.sentSecrets?.compare,
  isTraceStored: () => upload.state.status === 'stored',
  upsertTrace,
  hasWritten: () => upload.hasWritten,
  sending,
  reportTruncation: (message) => notice(upload, message),
  reportOmission: reportOmission(upload),
})

/** How the trace is changed. On a first contact its fields were set by another machine, and stay. */
export const changeOf = (
  { state, destination: { visibility, visibilityOfNew }, isFirstContact, unlessDeleted, onVisibility }: Upload,
  fields: ReadonlyMap<string, string>,
) => ({
  fields: Object.fromEntries(fields),
  visibility,
  visibilityOfNew,
  unlessDeleted,
  keepsFields: isFirstContact && state.status === 'new',
  ...(onVisibility && { onVisibility }),
})

/**
 * Once it is known that another machine may have sent the session, sends only those messages of a batch that the service lacks or has in a
 * shorter version. `note` gets those that the service has.
 */
export const comparing =
  (upload: Upload, note: (batch: Batch) => void, send: Send): Send =>
  async (batch) => {
    const { toSend, same, shorter } = (await upload.compare?.(batch)) ?? { toSend: batch, same: [], shorter: [] }
    const known = [...same, ...shorter]
    upload.shorter += shorter.length
    if (known.length > 0) {
      note(known)
      upload.report({ type: 'progress', messages: known.length, bytes: bytesOf(known) })
    }
    if (toSend.length === 0) return
    upload.hasWritten = true
    await send(toSend)
  }
