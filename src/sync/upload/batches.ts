import { batchJson } from '../api/client.ts'
import type { EncodedMessage } from './encode.ts'

const MAX_MESSAGES = 200
const TARGET_BYTES = 1 << 20
const MAX_BYTES = 16 << 20

/** Whether a batch with this message alone stays within 16 MiB, the limit of the service. */
export const fitsInBatch = ({ bytes }: EncodedMessage): boolean => bytes + batchJson([]).length <= MAX_BYTES

/** Groups `messages`, in order, into batches of at most 200 messages and about 1 MiB; a larger message is a batch alone. */
export async function* toBatches(messages: AsyncIterable<EncodedMessage>): AsyncGenerator<readonly EncodedMessage[]> {
  let batch: EncodedMessage[] = []
  let bytes = batchJson([]).length
  for await (const message of messages) {
    const bytesWithComma = message.bytes + 1
    if (batch.length > 0 && (batch.length === MAX_MESSAGES || bytes + bytesWithComma > TARGET_BYTES)) {
      yield batch
      batch = []
      bytes = batchJson([]).length
    }
    batch.push(message)
    bytes += bytesWithComma
  }
  if (batch.length > 0) yield batch
}
