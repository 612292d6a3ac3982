import type { Session, SessionMessage } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import type { MessageNote } from '../state/session-states.ts'
import { newBatches, fitsInBatch } from './batches.ts'
import { type EncodedMessage, encodeMessage, encodeFields } from './encode.ts'
import type { Sending } from './sending.ts'

/** Where a session's changes are sent: to the server, or, in a dry run, nowhere. */
export type Target = {
  /** The digest of a field of the trace, as it was when it was compared with the server. */
  readonly fieldDigest: (name: string) => string | undefined
  /** What is known of a message, by its id, that the server has. */
  readonly noteOf: (externalId: string) => MessageNote | undefined
  readonly isTraceStored: () => boolean
  /** Creates the trace or updates these fields; false when the trace was deleted. */
  readonly upsertTrace: (fields: ReadonlyMap<string, string>) => Promise<boolean>
  /** Whether anything was sent, or would be. */
  readonly hasWritten: () => boolean
  readonly sending: Sending
  /** Reports that a field of the trace or of a message was truncated. */
  readonly reportTruncation: (description: string) => void
  /** Reports a message that is not sent, and why. */
  readonly reportOmission: (message: { readonly externalId: string; readonly line: number }, why: string) => void
}

/** How much was read. */
type Amount = { messages: number }

export type UploadResult = 'sent' | 'nothing to send' | 'empty' | 'deleted'

const tooBig = 'over 16 MiB, more than the server takes: left out'
const tooDeep = 'nested too deeply: left out'

const encodeUnlessTooDeep = (message: SessionMessage): EncodedMessage | undefined => {
  try {
    return encodeMessage(message)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const isSame = (stored: Uint8Array | undefined, sent: Uint8Array): boolean =>
  stored !== undefined && Buffer.compare(stored, sent) === 0

/** A message as it is to be sent; undefined when the server has it or more of it, or would refuse it. */
const changed = (
  message: SessionMessage,
  { noteOf, reportTruncation, reportOmission }: Target,
): EncodedMessage | undefined => {
  const encoded = encodeUnlessTooDeep(message)
  if (!encoded) return void reportOmission({ externalId: message.externalId, line: message.order }, tooDeep)
  if (!fitsInBatch(encoded)) return void reportOmission(encoded, tooBig)
  if (isSame(noteOf(encoded.externalId)?.digest, encoded.digest)) return undefined
  for (const truncation of encoded.truncations) reportTruncation(`message ${encoded.externalId}: ${truncation}`)
  return encoded
}

const sendChanges = async (
  session: Session,
  changedFields: ReadonlyMap<string, string>,
  target: Target,
  read: Amount,
): Promise<UploadResult> => {
  let isUpserted = false
  const batches = newBatches()
  /** Returns false if there is no trace to send it to. */
  const send = async (batch: readonly EncodedMessage[] | undefined): Promise<boolean> => {
    if (!batch) return true
    return target.sending.add(batch, async () => (isUpserted ||= await target.upsertTrace(changedFields)))
  }
  // One loop, not a chain of generators: these would wait several times for each message.
  for await (const message of session.messages()) {
    read.messages++
    const encoded = changed(message, target)
    const batch = encoded && batches.add(encoded)
    if (batch && !(await send(batch))) return 'deleted'
  }
  if (!(await send(batches.rest()))) return 'deleted'
  await target.sending.finish()
  if (isUpserted) return target.hasWritten() ? 'sent' : 'nothing to send'
  if (read.messages === 0 && session.isContinued !== true) return 'empty'
  if (changedFields.size === 0 || !target.isTraceStored()) return 'nothing to send'
  return (await target.upsertTrace(changedFields)) ? 'sent' : 'deleted'
}

/**
 * Sends what has changed in a session: the trace first, then the messages in batches, while the session is read on. A session
 * without messages creates no trace. Ends when no batch is on its way any more. Returns how many messages were read, too.
 */
export const uploadSession = async (
  session: Session,
  target: Target,
): Promise<{ readonly result: UploadResult; readonly messages: number }> => {
  const read = { messages: 0 }
  const { fields, truncations } = encodeFields(session.trace)
  const changedFields = new Map([...fields].filter(([name, value]) => target.fieldDigest(name) !== digest(value)))
  if (changedFields.size > 0) truncations.forEach(target.reportTruncation)
  try {
    const result = await sendChanges(session, changedFields, target, read)
    return { result, ...read }
  } finally {
    await target.sending.settle()
  }
}
