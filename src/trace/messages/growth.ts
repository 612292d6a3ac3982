import type { PatchOperation } from '../../base/json/patch-operation.ts'
import type { UpsertedMessage } from './decide.ts'
import type { MessageHead } from './loaded.ts'
import { partIndex } from './message.ts'
import type { StoredPart } from './part.ts'

/** Characters that the event of a message takes besides the message. */
const EVENT_LENGTH = 200

const lengthOf = ({ text, model = '', parts }: MessageHead) => parts.length + (text?.length ?? 0) + model.length

const valueLength = (operation: PatchOperation): number => {
  if (operation.op === 'remove') return 0
  if (partIndex(operation.path) !== undefined) return (operation.value as StoredPart).json.length
  return typeof operation.value === 'string' ? operation.value.length : 0
}

/**
 * About how many characters upserts of messages add to the log: none for one that leaves its message unchanged, or makes it
 * half as long or less, so that a namespace that is full can still shorten its messages. Upserts that count nothing halve a
 * message each time, so there are few of them in a row.
 */
export const growthOf = (messages: readonly UpsertedMessage[]): number => {
  let growth = 0
  for (const { before, head, patch } of messages) {
    if (!before) growth += EVENT_LENGTH + lengthOf(head)
    else if (patch && 2 * lengthOf(head) > lengthOf(before))
      growth += patch.reduce((sum, operation) => sum + valueLength(operation), EVENT_LENGTH)
  }
  return growth
}
