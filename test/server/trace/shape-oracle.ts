import type { SessionShape } from '../../../src/contract/trace.ts'
import type { MessageDocument } from '../../../src/server/trace/messages/message.ts'
import { factsIn } from '../../../src/server/trace/messages/facts.ts'
import { toolsOf } from '../../../src/server/trace/messages/classify.ts'
import { type CallPlace, ShapeSoFar } from '../../../src/server/trace/shape.ts'

type Placed = MessageDocument & Partial<Pick<CallPlace, 'ordinal' | 'slot'>>

const made = (messages: readonly Placed[]): ShapeSoFar => {
  const shape = new ShapeSoFar()
  for (const { role, textContent = '', parts, ordinal = 0, slot = 0 } of messages)
    shape.add(
      {
        isOfUser: role === 'user',
        hasText: textContent.trim() !== '',
        facts: factsIn(parts.map(({ fact }) => fact)),
      },
      toolsOf(parts).map((tool, nth) => ({ ordinal, nth, slot, tool })),
    )
  return shape
}

/** The shape of messages that are in list order, made at once. */
export const shapeOf = (messages: readonly MessageDocument[]): SessionShape => made(messages).shape()

/** The calls of messages in list order that have failed, in the order in which they came. */
export const failedOf = (messages: readonly Placed[]): CallPlace[] =>
  made(messages)
    .takeFailed()
    .sort((a, b) => a.ordinal - b.ordinal || a.nth - b.nth)

/** Messages in list order, from the order in which they came. */
export const listed = <Message extends MessageDocument>(messages: readonly Message[]): Message[] => {
  const key = (value: number | undefined) => value ?? Infinity
  const difference = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)
  return messages.toSorted(
    (a, b) => difference(key(a.order), key(b.order)) || difference(key(a.timestamp), key(b.timestamp)),
  )
}
