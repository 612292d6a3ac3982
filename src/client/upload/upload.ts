import type { Redacted } from '../redaction/session.ts'
import type { MessageNote, SessionState } from '../state/session-states.ts'
import type { Destination } from './destination.ts'
import type { EncodedMessage } from './encode.ts'
import type { SessionReport } from './session-report.ts'
import { newReadMessages, type StoredMessages } from './stored-messages.ts'
import type { VisibilityChange } from './upsert-trace.ts'

type Batch = readonly EncodedMessage[]

/** How a session is sent. */
type How = {
  /** Whether messages are sent as they are, also if the service has more of them. */
  readonly force: boolean
  /** Whether fields of the trace are set that were never compared with the service, and a deleted trace is made again. */
  readonly overrules: boolean
  /** Whether a title that the service has may be replaced by another one. */
  readonly replacesTitle: (stored: string) => boolean
  /** Whether nothing is written, neither at the service nor here. */
  readonly dryRun: boolean
  /** Finds the secrets in what the service has; undefined where no secrets are known. */
  readonly withoutSecrets?: Redacted['withoutSecrets'] | undefined
}

/** The upload of one session. `state` is what the server has of it, and is updated after each batch. */
export type Upload = How & {
  readonly session: SessionReport
  readonly destination: Destination
  state: SessionState
  /** What is known of a message, by its id, that the server has; nothing of a session that was not sent before. */
  readonly noteOf: (externalId: string) => MessageNote | undefined
  /** Messages that the service has, and of which the notes do not say what: compared before they are sent. The newest list is the first. */
  readonly unknown: StoredMessages[]
  readonly readMessages: ReturnType<typeof newReadMessages>
  /** How many messages are shorter here than there. */
  shorter: number
  /** Whether the messages that the service has were counted, to notice missing ones. */
  isCountChecked: boolean
  /** Whether anything was written, or would be. */
  hasWritten: boolean
  /** Whether the service keeps a title that is not the one of this session here. */
  isTitleLeft: boolean
  /** The hashes of the secrets, as far as they are known, that are taken out of the trace: its past has them. Undefined if none are. */
  owed: ReadonlySet<string> | undefined
}

/** `session` is not copied, because what is known about it changes. */
export const newUpload = (
  session: SessionReport,
  destination: Destination,
  state: SessionState,
  { force, overrules, replacesTitle, dryRun, withoutSecrets }: How,
): Upload => ({
  session,
  destination,
  state,
  force,
  overrules,
  replacesTitle,
  dryRun,
  withoutSecrets,
  noteOf: state.status === 'stored' ? destination.states.notes(state) : () => undefined,
  unknown: [],
  readMessages: newReadMessages(),
  shorter: 0,
  isCountChecked: false,
  hasWritten: false,
  isTitleLeft: false,
  owed: undefined,
})

/** Where an upload goes: to the server, or, in a dry run, nowhere. */
export type Target = {
  /** Creates the trace or updates these fields; false when the trace was deleted. */
  readonly upsertTrace: (upload: Upload, changedFields: ReadonlyMap<string, string>) => Promise<boolean>
  /** Sends those messages of a batch that the service lacks, or has less of. */
  readonly send: (upload: Upload, batch: Batch) => Promise<void>
}

/** Reports a message that is not sent, and why. */
export const reportOmission = (
  { state, session: { counts, report, newLosses } }: Upload,
  { externalId, line }: { readonly externalId: string; readonly line: number },
  why: string,
): void => {
  if (newLosses([`${state.sessionId} message ${externalId}`]).length === 0) return
  counts.leftOut++
  const message = `message ${externalId}: ${why}`
  report({ type: 'problem', kind: 'message_left_out', file: state.source, line, externalId, message })
}

export const notice = ({ state: { source, externalId }, session: { report } }: Upload, message: string): void =>
  report({ type: 'notice', file: source, externalId, message })

export const noteVisibility = (session: SessionReport, { before, after }: VisibilityChange): void => {
  const published = after === 'public' && before !== 'public' ? { published: true as const } : {}
  session.about = { ...session.about, visibility: after, ...published }
}
