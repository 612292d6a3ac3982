import type { SessionMessage } from '../agent.ts'
import { isExternalId, newLineIds } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { textPart } from '../support/parts.ts'
import { newToolCalls, type ToolCalls } from '../support/tool-calls.ts'
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

/** Reads the entries of a session, one after the other; undefined for one that is no message. */
export const newEntryReader = (
  lineId: (text: string) => string,
): ((line: ObjectLine) => SessionMessage | undefined) => {
  const calls = newToolCalls()
  return ({ json, text, number: order }) => {
    let id = isExternalId(json['id']) ? json['id'] : undefined
    const messageId = () => (id ??= lineId(text))
    const draft = draftOf(json, calls, messageId)
    if (!draft || draft.parts.length === 0) return undefined
    const model = draft.role === 'assistant' ? textOf(messageOf(json)['model']) : undefined
    const named = { externalId: messageId(), role: draft.role, ...(model === undefined ? {} : { model }) }
    return { ...named, order, ...timeOf(json), parts: draft.parts }
  }
}

/** The messages of a session: those of the lines that are on its path (README, rule 2). */
export async function* messagesOf(
  lines: AsyncIterable<ObjectLine>,
  isOnPath: (line: number) => boolean,
): AsyncGenerator<SessionMessage> {
  const read = newEntryReader(newLineIds())
  for await (const line of lines) {
    const message = isOnPath(line.number) ? read(line) : undefined
    if (message) yield message
  }
}
