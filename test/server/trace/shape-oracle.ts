import type { SessionShape } from '../../../src/contract/trace.ts'
import type { MessageDocument } from '../../../src/server/trace/messages/message.ts'
import { factsIn } from '../../../src/server/trace/messages/facts.ts'
import { ShapeSoFar } from '../../../src/server/trace/shape.ts'

/** The shape of messages that are in list order, made at once. */
export const shapeOf = (messages: readonly MessageDocument[]): SessionShape => {
  const shape = new ShapeSoFar()
  for (const { role, textContent = '', parts } of messages)
    shape.add({
      isOfUser: role === 'user',
      hasText: textContent.trim() !== '',
      facts: factsIn(parts.map(({ fact }) => fact)),
    })
  return shape.shape()
}

/** Messages in list order, from the order in which they came. */
export const listed = (messages: readonly MessageDocument[]): MessageDocument[] => {
  const key = (value: number | undefined) => value ?? Infinity
  const difference = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
  return messages.toSorted(
    (a, b) => difference(key(a.order), key(b.order)) || difference(key(a.timestamp), key(b.timestamp)),
  )
}
