import type { SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Draft, newMessage, textPart } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { answerParts, bashParts, toolResultPart, userParts } from './content.ts'

const messageOf = (json: Json): Json => objectOf(json['message'])

const summary = (value: unknown): Draft => ({ role: 'system', parts: textPart(value) })

/** The draft of an entry of type `message` (README, rules 3 to 5). */
const messageDraft = (message: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  switch (message['role']) {
    case 'user':
      return { role: 'user', parts: userParts(message['content']) }
    case 'assistant':
      return { role: 'assistant', parts: answerParts(message, calls, messageId) }
    case 'toolResult':
      return { role: 'user', parts: [toolResultPart(message, calls)] }
    case 'bashExecution':
      return { role: 'user', parts: bashParts(message) }
    case 'branchSummary':
    case 'compactionSummary':
      return summary(message['summary'])
    default:
      return undefined
  }
}

/** The draft of an entry's message; undefined for entries that are no message (README, rules 3 to 7). */
const draftOf = (json: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  switch (json['type']) {
    case 'message':
      return messageDraft(messageOf(json), calls, messageId)
    case 'compaction':
    case 'branch_summary':
      return summary(json['summary'])
    default:
      return undefined
  }
}

const timeOf = (json: Json): number | undefined => {
  const { timestamp } = messageOf(json)
  return millisecondsOf(json['timestamp']) ?? (Number.isSafeInteger(timestamp) ? (timestamp as number) : undefined)
}

/** The message of an entry; undefined for entries that are no message. */
export const readEntry = (
  { json, text, number: order }: ObjectLine,
  calls: ToolCalls,
  lineId: (text: string) => string,
): SessionMessage | undefined => {
  let id = isExternalId(json['id']) ? json['id'] : undefined
  const messageId = () => (id ??= lineId(text))
  const draft = draftOf(json, calls, messageId)
  if (!draft || draft.parts.length === 0) return undefined
  const model = draft.role === 'assistant' ? textOf(messageOf(json)['model']) : undefined
  return newMessage({ externalId: messageId(), ...draft, model, order, timestamp: timeOf(json) })
}
