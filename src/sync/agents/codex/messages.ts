import type { SessionMessage } from '../agent.ts'
import { isObject, type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { errorPart, textPart } from '../support/parts.ts'
import { type Context, itemDraft, ownIdOf } from './items.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** What lines need of those before them. `model` is that of the last `turn_context`. */
export type Reading = Context & {
  readonly messageId: (wanted: unknown, text: string) => string
  model: string | undefined
}

const LINE_TYPES = ['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted', 'world_state']

export const isRolloutLine = ({ type, payload }: Json): boolean =>
  LINE_TYPES.includes(String(type)) && isObject(payload)

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
const draftOf = (json: Json, context: Context, messageId: () => string): Draft | undefined => {
  const payload = payloadOf(json)
  switch (json['type']) {
    case 'response_item':
      return itemDraft(payload, context, messageId)
    case 'event_msg':
      return errorDraft(payload)
    case 'compacted':
      return compactionDraft(payload)
    default:
      return undefined
  }
}

/** The message of a line; undefined for one that is none. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const payload = payloadOf(json)
  const model = textOf(payload['model'])
  if (json['type'] === 'turn_context' && model) reading.model = model
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(ownIdOf(payload), text))
  const draft = draftOf(json, reading, messageId)
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
