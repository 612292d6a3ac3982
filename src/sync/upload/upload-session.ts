import type { Session, SessionMessage } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { toBatches, fitsInBatch } from './batches.ts'
import { type EncodedMessage, encodeMessage, encodeFields } from './encode.ts'
import type { FileState } from './file-states.ts'

/** Where a session's changes are sent: to the server, or, in a dry run, nowhere. */
export type Target = {
  /** Creates the trace or updates these fields; false when the trace was deleted on the server. */
  readonly upsertTrace: (fields: ReadonlyMap<string, string>) => Promise<boolean>
  readonly sendBatch: (batch: readonly EncodedMessage[]) => Promise<void>
  /** Reports that a field of the trace or of a message was truncated. */
  readonly reportTruncation: (description: string) => void
  /** Reports a message that is not sent, and why. */
  readonly reportOmission: (message: { readonly externalId: string; readonly line: number }, why: string) => void
}

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

/** The messages that are new or have changed since `state`, without those that the server would refuse. */
async function* changedMessages(
  messages: AsyncIterable<SessionMessage>,
  state: FileState,
  { reportTruncation, reportOmission }: Target,
): AsyncGenerator<EncodedMessage> {
  for await (const message of messages) {
    const encoded = encodeUnlessTooDeep(message)
    if (!encoded) reportOmission({ externalId: message.externalId, line: message.order }, tooDeep)
    else if (!fitsInBatch(encoded)) reportOmission(encoded, tooBig)
    else if (state.messages.get(encoded.externalId) !== encoded.digest) {
      for (const truncation of encoded.truncations) reportTruncation(`message ${encoded.externalId}: ${truncation}`)
      yield encoded
    }
  }
}

/** Yields `items`, and calls `onItem` for each. */
async function* tap<T>(items: AsyncIterable<T>, onItem: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    onItem()
    yield item
  }
}

/**
 * Sends what has changed in a session since `state`: the trace first, then the messages in batches. A session without
 * messages creates no trace.
 */
export const uploadSession = async (session: Session, state: FileState, target: Target): Promise<UploadResult> => {
  const { fields, truncations } = encodeFields(session.trace)
  const changedFields = new Map([...fields].filter(([name, value]) => state.fields.get(name) !== digest(value)))
  if (changedFields.size > 0) truncations.forEach(target.reportTruncation)
  let count = 0
  let isTraceStored = false
  const messages = tap(session.messages(), () => count++)
  for await (const batch of toBatches(changedMessages(messages, state, target))) {
    if (!isTraceStored && !(await target.upsertTrace(changedFields))) return 'deleted'
    isTraceStored = true
    await target.sendBatch(batch)
  }
  if (count === 0) return 'empty'
  if (isTraceStored) return 'sent'
  if (changedFields.size === 0 || !state.stored) return 'nothing to send'
  return (await target.upsertTrace(changedFields)) ? 'sent' : 'deleted'
}
