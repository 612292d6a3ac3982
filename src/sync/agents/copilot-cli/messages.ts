import type { SessionMessage } from '../agent.ts'
import { isExternalId, type MessageIds, newMessageIds } from '../support/external-ids.ts'
import { newHashedMap } from '../support/hashed-map.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { errorPart, textPart } from '../support/parts.ts'
import { newToolCalls } from '../support/tool-calls.ts'
import { answerParts, newThinking, promptParts, resultPart } from './content.ts'
import { chosenModel } from './session.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** Tells whether thinking was not said since the last prompt (README, rule 4). */
const newThoughts = () => {
  let said = newHashedMap()
  return { forget: () => void (said = newHashedMap()), isNew: (thinking: string): boolean => said.add(thinking) }
}

/** Tells whether the event of a message was there before (README, rule 9). */
const newRepetitions = () => {
  const seen = newHashedMap()
  return (id: unknown, text: string): boolean => typeof id === 'string' && !seen.add(`${text.length} ${id}`)
}

const newReading = (messageId: MessageIds) => ({
  calls: newToolCalls(),
  thoughts: newThoughts(),
  isRepetition: newRepetitions(),
  messageId,
  model: undefined as string | undefined,
})
type Reading = ReturnType<typeof newReading>

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
      return textOf(data['parentAgentTaskId']) ? undefined : { role: 'user', parts: promptParts(data) }
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

const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const data = objectOf(json['data'])
  note(reading, json, data)
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(json['id'], text))
  const draft = draftOf(json['type'], data, reading, messageId)
  if (!draft || draft.parts.length === 0 || reading.isRepetition(json['id'], text)) return undefined
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

/** The messages of a session. */
export async function* messagesOf(
  lines: AsyncIterable<ObjectLine>,
  messageId = newMessageIds(),
): AsyncGenerator<SessionMessage> {
  const reading = newReading(messageId)
  for await (const line of lines) {
    const message = readLine(reading, line)
    if (message) yield message
  }
}
