import { batchBody } from '../api/client.ts'
import type { Outgoing } from './encode.ts'

const mostMessages = 200
const aimedBytes = 1 << 20
const mostBytes = 16 << 20

/** Whether the service takes the message at all: a batch of it alone stays within 16 MiB. */
export const fits = ({ bytes }: Outgoing): boolean => bytes + batchBody([]).length <= mostBytes

/** `messages` in their order, in batches of at most 200 and about 1 MiB; a bigger message goes alone. */
export async function* batches(messages: AsyncIterable<Outgoing>): AsyncGenerator<readonly Outgoing[]> {
  let batch: Outgoing[] = []
  let bytes = batchBody([]).length
  for await (const message of messages) {
    const more = message.bytes + 1
    if (batch.length > 0 && (batch.length === mostMessages || bytes + more > aimedBytes)) {
      yield batch
      batch = []
      bytes = batchBody([]).length
    }
    batch.push(message)
    bytes += more
  }
  if (batch.length > 0) yield batch
}
