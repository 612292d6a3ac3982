import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { type Draft, newMessage } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import {
  assistantParts,
  isFiller,
  messageOf,
  modelOf,
  summaryParts,
  systemParts,
  usageWith,
  type UserContext,
  userDraft,
} from './content.ts'

/** A message that is being put together. */
export type OpenAnswer = Omit<SessionMessage, 'parts'> & { parts: Part[] }

/** The id that all lines of one answer have; undefined for lines of other kinds (README, rule 3). */
export const answerId = (json: Json): string | undefined => {
  const { id } = messageOf(json)
  return json['type'] === 'assistant' && !isFiller(json) && isExternalId(id) ? id : undefined
}

/** The role and the parts of a line that is a message of its own; undefined for other lines (README, rules 5 to 7). */
export const draftOf = (json: Json, context: UserContext): Draft | undefined => {
  switch (json['type']) {
    case 'user': {
      if (json['isMeta'] === true) return undefined
      const { content } = messageOf(json)
      return json['isCompactSummary'] === true
        ? { role: 'system', parts: summaryParts(content) }
        : userDraft(content, context)
    }
    case 'system':
      return { role: 'system', parts: systemParts(json) }
    case 'attachment': {
      const attachment = objectOf(json['attachment'])
      const typed = attachment['type'] === 'queued_command' && attachment['isMeta'] !== true && json['isMeta'] !== true
      return typed ? userDraft(attachment['prompt'], context) : undefined
    }
    default:
      return undefined
  }
}

const timeOf = (json: Json): number | undefined =>
  millisecondsOf(json['timestamp']) ?? millisecondsOf(objectOf(json['attachment'])['timestamp'])

/** An answer with the parts of one more of its lines. `earlier` is the answer so far, undefined for its first line (README, rule 3). */
export const extendAnswer = (
  calls: ToolCalls,
  { json, number: order }: ObjectLine,
  externalId: string,
  earlier?: OpenAnswer,
): OpenAnswer => {
  const parts = earlier?.parts ?? []
  for (const part of assistantParts(json, calls, externalId, parts.length)) parts.push(part)
  const model = earlier?.model ?? modelOf(json)
  const usage = usageWith(json, earlier?.usage)
  if (earlier && earlier.model === model && earlier.usage === usage) return earlier
  if (earlier) return newMessage({ ...earlier, model, usage, parts })
  return newMessage({ externalId, role: 'assistant', model, order, timestamp: timeOf(json), usage, parts })
}

/** The message of a line that is a message of its own (README, rules 4 to 9); undefined for other lines. */
export const readLine = (
  context: UserContext,
  line: ObjectLine,
  { lineId, order }: { readonly lineId: (text: string) => string; readonly order: number },
): SessionMessage | undefined => {
  const { json, text } = line
  const externalId = () => (isExternalId(json['uuid']) ? json['uuid'] : lineId(text))
  if (json['type'] === 'assistant') return isFiller(json) ? undefined : extendAnswer(context.calls, line, externalId())
  const own = draftOf(json, context)
  if (!own || own.parts.length === 0) return undefined
  return newMessage({ externalId: externalId(), ...own, order, timestamp: timeOf(json) })
}
