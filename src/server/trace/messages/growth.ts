import type { PatchOperation } from '../../../base/json/patch-operation.ts'
import { NO_PARTS } from './heads.ts'
import type { MessageHead } from './loaded.ts'
import { type MessageUpsert, partIndex } from './message.ts'
import type { StoredPart } from './part.ts'

/** What an upsert changes: the heads of its message before it, unless the message is new, and after it. */
export type Change = {
  readonly head: MessageHead
  readonly before?: MessageHead
  readonly patch?: readonly PatchOperation[]
}

/** The characters of a message's event besides the message. */
const EVENT_LENGTH = 200

const lengthOf = ({ text, model = '', parts }: Pick<MessageHead, 'text' | 'model' | 'parts'>) =>
  parts.length + (text?.length ?? 0) + model.length

const valueLength = (operation: PatchOperation): number => {
  if (operation.op === 'remove') return 0
  if (partIndex(operation.path) !== undefined) return (operation.value as StoredPart).json.length
  return typeof operation.value === 'string' ? operation.value.length : 0
}

/**
 * The approximate number of characters that upserts add to the log. An upsert that changes nothing, or shortens its message to half
 * or less, counts as 0, so that messages can still be shortened when the quota of the namespace is used up. A message can be halved
 * only a few times, so little is added for free.
 */
export const growthOf = (changes: readonly Change[]): number => {
  let growth = 0
  for (const { before, head, patch } of changes) {
    if (!before) growth += EVENT_LENGTH + lengthOf(head)
    else if (patch && 2 * lengthOf(head) > lengthOf(before))
      growth += patch.reduce((sum, operation) => sum + valueLength(operation), EVENT_LENGTH)
  }
  return growth
}

/** What upserts add at most, whatever the trace has: all that they give. */
export const mostGrowthOf = (upserts: readonly MessageUpsert[]): number =>
  upserts.reduce((sum, { given: { role, model }, heads: { text, parts = NO_PARTS } }) => {
    return sum + EVENT_LENGTH + role.length + lengthOf({ text, model, parts })
  }, 0)
