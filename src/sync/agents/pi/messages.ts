import type { SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { textPart } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { answerParts, bashParts, resultPart, userParts } from './content.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

const messageOf = (json: Json): Json => objectOf(json['message'])

const summary = (value: unknown): Draft => ({ role: 'system', parts: textPart(value) })

/** The role and the parts of an entry of type `message` (README, rules 3 to 5). */
const messageDraft = (message: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  switch (message['role']) {
    case 'user':
      return { role: 'user', parts: userParts(message['content']) }
    case 'assistant':
      return { role: 'assistant', parts: answerParts(message, calls, messageId) }
    case 'toolResult':
      return { role: 'user', parts: [resultPart(message, calls)] }
    case 'bashExecution':
      return { role: 'user', parts: bashParts(message) }
    case 'branchSummary':
    case 'compactionSummary':
      return summary(message['summary'])
    default:
      return undefined
  }
}

/** The role and the parts of an entry; undefined for one that is no message (README, rules 3 to 7). */
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

const timeOf = (json: Json): { readonly timestamp?: number } => {
  const { timestamp: inMessage } = messageOf(json)
  const timestamp = millisecondsOf(json['timestamp']) ?? (Number.isSafeInteger(inMessage) ? inMessage : undefined)
  return typeof timestamp === 'number' ? { timestamp } : {}
}

/** The message of an entry; undefined for one that is none. */
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
  const named = { externalId: messageId(), role: draft.role, ...(model === undefined ? {} : { model }) }
  return { ...named, order, ...timeOf(json), parts: draft.parts }
}
