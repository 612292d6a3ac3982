import type { SessionMessage } from '../agent.ts'
import { isExternalId, newMessageIds, noMessageIds, type SavedMessageIds } from '../support/external-ids.ts'
import { newHashedMap, type SavedMap } from '../support/hashed-map.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { errorPart, textPart } from '../support/parts.ts'
import { newToolCalls, type SavedCalls } from '../support/tool-calls.ts'
import { answerParts, newThinking, promptParts, resultPart } from './content.ts'
import { chosenModel } from './session.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** What lines need of those before them, as plain JSON. */
export type SavedReading = {
  readonly calls: SavedCalls
  readonly thoughts: SavedMap
  readonly events: SavedMap
  readonly ids: SavedMessageIds
  readonly model?: string | undefined
}

/** Tells whether thinking was not said since the last prompt (README, rule 4). */
const newThoughts = (saved?: SavedMap) => {
  let said = newHashedMap(saved)
  return {
    forget: () => void (said = newHashedMap()),
    isNew: (thinking: string): boolean => said.add(thinking),
    save: () => said.saveKeys(),
  }
}

/** Tells whether the event of a message was there before (README, rule 9). */
const newRepetitions = (saved?: SavedMap) => {
  const seen = newHashedMap(saved)
  return {
    isRepetition: (id: unknown, text: string): boolean => typeof id === 'string' && !seen.add(`${text.length} ${id}`),
    save: () => seen.saveKeys(),
  }
}

/** A reading of events, one after the other. Without `withIds` its messages have none. */
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

/** Whether a person typed a prompt, and not the CLI or another agent. Each has the id of a task since version 1.0.64. */
const isTyped = ({ source }: Json): boolean => source !== 'system' && !String(source).startsWith('agent-')

const errorDraft = (data: Json): Draft => ({
  role: 'system',
  parts: [errorPart(textOf(data['message']) ?? textOf(data['errorType']) ?? 'Error')],
})

const compactionDraft = (data: Json): Draft | undefined =>
  data['success'] === false
    ? undefined
    : { role: 'system', parts: textPart(textOf(data['summaryContent']) ?? 'Context compacted') }

/** The role and the parts of an event; undefined for one that is no message (README, rules 2 to 8). */
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
      return { role: 'user', parts: [resultPart(data, calls)] }
    case 'session.error':
      return errorDraft(data)
    case 'session.compaction_complete':
      return compactionDraft(data)
    default:
      return undefined
  }
}

/** Notes what an event says for those after it. */
const note = (reading: Reading, json: Json, data: Json): void => {
  const { toolCallId, toolName } = data
  if (json['type'] === 'user.message') reading.thoughts.forget()
  if (json['type'] === 'tool.execution_start' && isExternalId(toolCallId) && textOf(toolName))
    reading.calls.add(toolCallId, String(toolName), toolCallId)
  const chosen = chosenModel(json)
  if (chosen !== undefined) reading.model = chosen || undefined
}

const modelOf = ({ model }: Reading, data: Json, role: SessionMessage['role']): { readonly model?: string } => {
  if (role !== 'assistant') return {}
  const own = textOf(data['model']) ?? (textOf(data['parentToolCallId']) ? undefined : model)
  return own === undefined ? {} : { model: own }
}

/** The message of an event; undefined for one that is none. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const data = objectOf(json['data'])
  note(reading, json, data)
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(json['id'], text))
  const draft = draftOf(json['type'], data, reading, messageId)
  if (!draft || draft.parts.length === 0 || reading.events.isRepetition(json['id'], text)) return undefined
  const timestamp = millisecondsOf(json['timestamp'])
  return {
    externalId: messageId(),
    role: draft.role,
    ...modelOf(reading, data, draft.role),
    order,
    ...(timestamp === undefined ? {} : { timestamp }),
    parts: draft.parts,
  }
}
