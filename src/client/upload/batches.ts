import { batchJson } from '../api/client.ts'
import type { EncodedMessage } from './encode.ts'

const MAX_MESSAGES = 200
const TARGET_BYTES = 1 << 20
const MAX_BYTES = 16 << 20
const EMPTY_BYTES = batchJson([]).length

/** Whether a batch with this message alone stays within 16 MiB, the limit of the service. */
export const fitsInBatch = ({ json }: EncodedMessage): boolean => json.length + EMPTY_BYTES <= MAX_BYTES

/** The size of messages as they are sent, in bytes. */
export const bytesOf = (messages: readonly EncodedMessage[]): number =>
  messages.reduce((sum, { json }) => sum + json.length, 0)

/** Groups messages that are sent together. */
type Batches = {
  /** Adds a message. Returns the batch before it, if that is complete now. */
  readonly add: (message: EncodedMessage) => readonly EncodedMessage[] | undefined
  /** The last batch, if there is one. */
  readonly rest: () => readonly EncodedMessage[] | undefined
}

/** Batches of messages in their order, at most 200 and about 1 MiB in each; a larger message is a batch alone. */
export const newBatches = (): Batches => {
  let batch: EncodedMessage[] = []
  let bytes = EMPTY_BYTES
  const take = () => {
    const complete = batch.length > 0 ? batch : undefined
    batch = []
    bytes = EMPTY_BYTES
    return complete
  }
  return {
    add: (message) => {
      const bytesWithComma = message.json.length + 1
      const isFull = batch.length === MAX_MESSAGES || bytes + bytesWithComma > TARGET_BYTES
      const complete = isFull ? take() : undefined
      batch.push(message)
      bytes += bytesWithComma
      return complete
    },
    rest: take,
  }
}

/** `messages` in batches (`newBatches`). */
export async function* toBatches(messages: AsyncIterable<EncodedMessage>): AsyncGenerator<readonly EncodedMessage[]> {
  const batches = newBatches()
  for await (const message of messages) {
    const batch = batches.add(message)
    if (batch) yield batch
  }
  const rest = batches.rest()
  if (rest) yield rest
}
