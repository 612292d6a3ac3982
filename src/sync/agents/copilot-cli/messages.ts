import type { SessionMessage } from '../agent.ts'
import { isExternalId, newMessageIds, noMessageIds, type SavedMessageIds } from '../support/external-ids.ts'
import { newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Draft, errorPart, newMessage, textPart } from '../support/parts.ts'
import { newToolCalls, type SavedCalls } from '../support/tool-calls.ts'
import { answerParts, executionPart, newThinking, promptParts } from './content.ts'
import { chosenModel } from './session.ts'

/** A reading as plain JSON. */
export type SavedReading = {
  readonly calls: SavedCalls
  readonly thoughts: SavedMap
  readonly events: SavedMap
  readonly ids: SavedMessageIds
  readonly model?: string | undefined
}

/** Tells whether a thinking text has not occurred since the last prompt (README, rule 4). */
const newThoughts = (saved?: SavedMap) => {
  let said = newHashedMap(saved)
  return {
    forget: () => void (said = newHashedMap()),
    isNew: (thinking: string): boolean => said.add(thinking),
    save: () => said.saveKeys(),
  }
}

/** Tells whether the event of a message is a repetition of an earlier one (README, rule 9). */
const newRepetitions = (saved?: SavedMap) => {
  const seen = newHashedMap(saved)
  return {
    isRepetition: (id: unknown, text: string): boolean => typeof id === 'string' && !seen.add(`${text.length} ${id}`),
    save: () => seen.saveKeys(),
  }
}

/** What an event needs of the events before it. `withIds` is false in a first reading, which needs no ids of messages. */
export const newReading = (saved: SavedReading | undefined, withIds: boolean) => {
  const ids = newMessageIds(saved?.ids)
  return {
    calls: newToolCalls(saved?.calls),
    thoughts: newThoughts(saved?.thoughts),
    events: newRepetitions(saved?.events),
    ids,
    messageId: withIds ? ids : noMessageIds,
    model: saved?.model,
  }
}
type Reading = ReturnType<typeof newReading>

export const saveReading = ({ calls, thoughts, events, ids, model }: Reading): SavedReading => ({
  calls: calls.save(),
  thoughts: thoughts.save(),
  events: events.save(),
  ids: ids.save(),
  model,
})

/** Whether a prompt was typed by a person, and not sent by the CLI or by another agent. */
const isTyped = ({ source }: Json): boolean => source !== 'system' && !String(source).startsWith('agent-')

const errorDraft = (data: Json): Draft => ({
  role: 'system',
  parts: [errorPart(textOf(data['message']) ?? textOf(data['errorType']) ?? 'Error')],
})

const compactionDraft = (data: Json): Draft | undefined =>
  data['success'] === false
    ? undefined
    : { role: 'system', parts: textPart(textOf(data['summaryContent']) ?? 'Context compacted') }

/** The draft of an event's message; undefined for events that are no message (README, rules 2 to 8). */
const draftOf = (
  type: unknown,
  data: Json,
  { calls, thoughts }: Reading,
  messageId: () => string,
): Draft | undefined => {
  switch (type) {
    case 'user.message':
      return isTyped(data) ? { role: 'user', parts: promptParts(data) } : undefined
    case 'assistant.message':
      return { role: 'assistant', parts: answerParts(data, calls, messageId, thoughts.isNew) }
    case 'assistant.reasoning':
      return { role: 'assistant', parts: newThinking(data['content'], thoughts.isNew) }
    case 'tool.execution_complete':
      return { role: 'user', parts: [executionPart(data, calls)] }
    case 'session.error':
      return errorDraft(data)
    case 'session.compaction_complete':
      return compactionDraft(data)
    default:
      return undefined
  }
}

/** Notes what later events need of this one. */
const note = (reading: Reading, json: Json, data: Json): void => {
  const { toolCallId, toolName } = data
  if (json['type'] === 'user.message') reading.thoughts.forget()
  if (json['type'] === 'tool.execution_start' && isExternalId(toolCallId) && textOf(toolName))
    reading.calls.add(toolCallId, String(toolName), toolCallId)
  const chosen = chosenModel(json)
  if (chosen !== undefined) reading.model = chosen || undefined
}

/** The model of an answer. One of a sub-agent has none unless the event names it. */
const modelOf = ({ model }: Reading, data: Json): string | undefined =>
  textOf(data['model']) ?? (textOf(data['parentToolCallId']) ? undefined : model)

/** The message of an event; undefined for events that are no message. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const data = objectOf(json['data'])
  note(reading, json, data)
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(json['id'], text))
  const draft = draftOf(json['type'], data, reading, messageId)
  if (!draft || draft.parts.length === 0 || reading.events.isRepetition(json['id'], text)) return undefined
  return newMessage({
    externalId: messageId(),
    ...draft,
    model: draft.role === 'assistant' ? modelOf(reading, data) : undefined,
    order,
    timestamp: millisecondsOf(json['timestamp']),
  })
}
