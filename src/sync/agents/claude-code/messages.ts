import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { assistantParts, isFiller, modelOf } from './assistant.ts'
import { messageOf } from './blocks.ts'
import { systemParts } from './system.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { summaryParts, type UserContext, userParts } from './user.ts'

/** A message that is being put together. */
export type Draft = Omit<SessionMessage, 'parts'> & { parts: Part[] }

/** The id that the lines of one answer share; undefined for every other line (README, rule 3). */
export const answerId = (json: Json): string | undefined => {
  const { id } = messageOf(json)
  return json['type'] === 'assistant' && !isFiller(json) && isExternalId(id) ? id : undefined
}

/** The role and the parts of a line that is a message of its own; undefined for other lines (README, rules 5 to 7). */
export const ownMessage = (json: Json, context: UserContext): Pick<SessionMessage, 'role' | 'parts'> | undefined => {
  switch (json['type']) {
    case 'user': {
      if (json['isMeta'] === true) return undefined
      const { content } = messageOf(json)
      return json['isCompactSummary'] === true
        ? { role: 'system', parts: summaryParts(content) }
        : { role: 'user', parts: userParts(content, context) }
    }
    case 'system':
      return { role: 'system', parts: systemParts(json) }
    case 'attachment': {
      const attachment = objectOf(json['attachment'])
      const typed = attachment['type'] === 'queued_command' && attachment['isMeta'] !== true && json['isMeta'] !== true
      return typed ? { role: 'user', parts: userParts(attachment['prompt'], context) } : undefined
    }
    default:
      return undefined
  }
}

const timeOf = (json: Json): { readonly timestamp?: number } => {
  const timestamp = millisecondsOf(json['timestamp']) ?? millisecondsOf(objectOf(json['attachment'])['timestamp'])
  return timestamp === undefined ? {} : { timestamp }
}

const modelPart = (json: Json): { readonly model?: string } => {
  const model = modelOf(json)
  return model === undefined ? {} : { model }
}

/** An answer with the parts of one more of its lines; of a first line, `earlier` is undefined (README, rule 3). */
export const extendAnswer = (
  calls: ToolCalls,
  { json, number: order }: ObjectLine,
  externalId: string,
  earlier?: Draft,
): Draft => {
  const parts = earlier?.parts ?? []
  for (const part of assistantParts(json, calls, externalId, parts.length)) parts.push(part)
  if (earlier) return { ...modelPart(json), ...earlier }
  return { externalId, role: 'assistant', ...modelPart(json), order, ...timeOf(json), parts }
}

/** The message of a line that shares none with others (README, rules 4 to 9); undefined for a line that is none. */
export const ownDraft = (
  context: UserContext,
  line: ObjectLine,
  { lineId, order }: { readonly lineId: (text: string) => string; readonly order: number },
): SessionMessage | undefined => {
  const { json, text } = line
  const externalId = () => (isExternalId(json['uuid']) ? json['uuid'] : lineId(text))
  if (json['type'] === 'assistant') return isFiller(json) ? undefined : extendAnswer(context.calls, line, externalId())
  const own = ownMessage(json, context)
  if (!own || own.parts.length === 0) return undefined
  return { externalId: externalId(), role: own.role, order, ...timeOf(json), parts: own.parts }
}
