import type { SessionMessage } from '../agent.ts'
import { type MessageIds, newMessageIds } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { errorPart, textPart } from '../support/parts.ts'
import { newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
import { itemDraft, ownIdOf } from './items.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** The state of a reading. `model` is that of the last `turn_context`. */
type Reading = {
  readonly calls: ToolCalls
  readonly messageId: MessageIds
  model?: string
}

export const payloadOf = (json: Json): Json => objectOf(json['payload'])

const errorDraft = (payload: Json): Draft | undefined =>
  payload['type'] === 'error'
    ? { role: 'system', parts: [errorPart(textOf(payload['message']) ?? 'Error')] }
    : undefined

const compactionDraft = (payload: Json): Draft => ({
  role: 'system',
  parts: textPart(textOf(payload['message']) ?? 'Context compacted'),
})

/** The role and the parts of a line's message; undefined for a line that is none (README, rules 2 to 8). */
const draftOf = (json: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  const payload = payloadOf(json)
  switch (json['type']) {
    case 'response_item':
      return itemDraft(payload, calls, messageId)
    case 'event_msg':
      return errorDraft(payload)
    case 'compacted':
      return compactionDraft(payload)
    default:
      return undefined
  }
}

const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const payload = payloadOf(json)
  const model = textOf(payload['model'])
  if (json['type'] === 'turn_context' && model) reading.model = model
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(ownIdOf(payload), text))
  const draft = draftOf(json, reading.calls, messageId)
  if (!draft || draft.parts.length === 0) return undefined
  const timestamp = millisecondsOf(json['timestamp'])
  return {
    externalId: messageId(),
    role: draft.role,
    ...(draft.role === 'assistant' && reading.model !== undefined ? { model: reading.model } : {}),
    order,
    ...(timestamp === undefined ? {} : { timestamp }),
    parts: draft.parts,
  }
}

/** The messages of a session, without those of the lines before `ownStart`, which are copies of its parent's (README, rule 9). */
export async function* messagesOf(
  lines: AsyncIterable<ObjectLine>,
  ownStart: number,
  messageId = newMessageIds(),
): AsyncGenerator<SessionMessage> {
  const reading: Reading = { calls: newToolCalls(), messageId }
  for await (const line of lines) {
    const message = readLine(reading, line)
    if (message && line.number >= ownStart) yield message
  }
}
