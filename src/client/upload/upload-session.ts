import type { Session, SessionMessage } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { newBatches, fitsInBatch } from './batches.ts'
import { type EncodedMessage, encodeMessage, encodeFields } from './encode.ts'
import type { NewSending, Sending } from './sending.ts'
import { notice, reportOmission, type Target, type Upload } from './upload.ts'

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
const changed = (upload: Upload, message: SessionMessage): EncodedMessage | undefined => {
  const { externalId, order: line } = message
  const encoded = encodeUnlessTooDeep(message)
  if (!encoded) return void reportOmission(upload, { externalId, line }, tooDeep)
  if (!fitsInBatch(encoded)) return void reportOmission(upload, encoded, tooBig)
  if (isSame(upload.noteOf(externalId)?.digest, encoded.digest)) return undefined
  for (const truncation of encoded.truncations) notice(upload, `message ${externalId}: ${truncation}`)
  return encoded
}

/** A session that was read, where it goes, and the queue of its batches. */
type Outgoing = { readonly read: Session; readonly target: Target; readonly sending: Sending }

const sendChanges = async (
  upload: Upload,
  { read, target, sending }: Outgoing,
  changedFields: ReadonlyMap<string, string>,
  amount: Amount,
): Promise<UploadResult> => {
  let isUpserted = false
  const batches = newBatches()
  const enter = async () => (isUpserted ||= await target.upsertTrace(upload, changedFields))
  /** Returns false if there is no trace to send it to. */
  const send = async (batch: readonly EncodedMessage[] | undefined) => !batch || sending.add(batch, enter)
  // One loop, not a chain of generators: these would wait several times for each message.
  for await (const message of read.messages()) {
    amount.messages++
    const encoded = changed(upload, message)
    const batch = encoded && batches.add(encoded)
    if (batch && !(await send(batch))) return 'deleted'
  }
  if (!(await send(batches.rest()))) return 'deleted'
  await sending.finish()
  if (isUpserted) return upload.hasWritten ? 'sent' : 'nothing to send'
  if (amount.messages === 0 && read.isContinued !== true) return 'empty'
  if (changedFields.size === 0 || upload.state.status !== 'stored') return 'nothing to send'
  return (await target.upsertTrace(upload, changedFields)) ? 'sent' : 'deleted'
}

/**
 * Sends what has changed in a session that was read: the trace first, then the messages in batches, while the session is read on. A session
 * without messages creates no trace. Ends when no batch is on its way any more. Returns how many messages were read, too.
 */
export const uploadSession = async (
  upload: Upload,
  read: Session,
  target: Target,
  newSending: NewSending,
): Promise<{ readonly result: UploadResult; readonly messages: number }> => {
  const amount = { messages: 0 }
  const sending = newSending((batch) => target.send(upload, batch))
  const { fields, truncations } = encodeFields(read.trace)
  const sent = upload.state.fields
  const isKept = (name: string) => sent.has(name) && read.standIns?.has(name) === true
  const changedFields = new Map(
    [...fields].filter(([name, value]) => sent.get(name) !== digest(value) && !isKept(name)),
  )
  if (changedFields.size > 0) for (const truncation of truncations) notice(upload, truncation)
  try {
    const result = await sendChanges(upload, { read, target, sending }, changedFields, amount)
    return { result, ...amount }
  } finally {
    await sending.settle()
  }
}
