import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { factsIn } from '../../src/server/trace/messages/facts.ts'
import { mayShow } from '../../src/server/trace/written-lines.ts'
import type { Message, Reading } from './stored-messages.ts'

/** What a batch changes in a trace. */
type TraceChanges = {
  /** Whether all rows of before the batch, or of before one of its events, are to be removed. */
  isRemoved: boolean
  /** The messages to be read, by ordinal. */
  readonly messages: Map<number, Reading>
}

/** The changes of a batch of events, by the id of the trace. */
export type Changes = Map<string, TraceChanges>

type EventOf<Type extends TraceEvent['type']> = DecodedEvent<Extract<TraceEvent, { type: Type }>>

const changesOf = (changes: Changes, { streamId }: DecodedEvent): TraceChanges => {
  let one = changes.get(streamId)
  if (!one) changes.set(streamId, (one = { isRemoved: false, messages: new Map() }))
  return one
}

const removeAll = (changes: Changes, event: DecodedEvent): TraceChanges => {
  const one = changesOf(changes, event)
  one.isRemoved = true
  one.messages.clear()
  return one
}

/** Whether the parts of a message have to be read: it may write or show files. */
export const mayMatter = ({ facts, tools }: Pick<Message, 'facts' | 'tools'>): boolean =>
  facts.some((fact) => fact.is === 'call' && fact.edit !== undefined) || tools.some(mayShow)

/** A new message without results or calls of interest has no rows, and changes none. One with results only is read if its calls show files. */
export const messageAdded = (changes: Changes, event: EventOf<'MessageAdded'>): void => {
  const { ordinal, parts, tools } = event.data
  const facts = factsIn(parts.map(({ fact }) => fact))
  const results = facts.flatMap((fact) => (fact.is === 'result' ? [fact.id] : []))
  if (mayMatter({ facts, tools })) changesOf(changes, event).messages.set(ordinal, { isNew: true })
  else if (results.length > 0) changesOf(changes, event).messages.set(ordinal, { isNew: true, results })
}

/** What of a message says where its calls are in the session, when they were made, and what they are. */
const READ = /^\/(?:parts|order|timestamp)(?:\/|$)/

export const messageUpdated = (changes: Changes, event: EventOf<'MessageUpdated'>): void => {
  const { patch, ordinal } = event.data
  const { messages } = changesOf(changes, event)
  if (patch.some(({ path }) => READ.test(path))) messages.set(ordinal, { isNew: messages.get(ordinal)?.isNew ?? false })
}

export const traceDeleted = (changes: Changes, event: EventOf<'TraceDeleted'>): void => void removeAll(changes, event)

/** All messages are in another incarnation now. */
export const historyErased = (changes: Changes, event: EventOf<'HistoryErased'>): void => {
  const { messages } = removeAll(changes, event)
  for (const [first, , count] of event.data.runs)
    for (let ordinal = first; ordinal < first + count; ordinal += 1) messages.set(ordinal, { isNew: true })
}
