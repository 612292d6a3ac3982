import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId, newLineIds } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { assistantParts, isFiller, modelOf } from './assistant.ts'
import { messageOf } from './blocks.ts'
import { systemParts } from './system.ts'
import { type ToolCalls, newToolCalls } from '../support/tool-calls.ts'
import { summaryParts, userParts } from './user.ts'

type Draft = Omit<SessionMessage, 'parts'> & { parts: Part[] }

/** The id that the lines of one answer share; undefined for every other line (README, rule 3). */
export const answerId = (json: Json): string | undefined => {
  const { id } = messageOf(json)
  return json['type'] === 'assistant' && !isFiller(json) && isExternalId(id) ? id : undefined
}

/** The role and the parts of a line that is a message of its own; undefined for other lines (README, rules 5 to 7). */
export const ownMessage = (json: Json, calls: ToolCalls): Pick<SessionMessage, 'role' | 'parts'> | undefined => {
  switch (json['type']) {
    case 'user': {
      if (json['isMeta'] === true) return undefined
      const { content } = messageOf(json)
      return json['isCompactSummary'] === true
        ? { role: 'system', parts: summaryParts(content) }
        : { role: 'user', parts: userParts(content, calls) }
    }
    case 'system':
      return { role: 'system', parts: systemParts(json) }
    case 'attachment': {
      const attachment = objectOf(json['attachment'])
      const typed = attachment['type'] === 'queued_command' && attachment['isMeta'] !== true && json['isMeta'] !== true
      return typed ? { role: 'user', parts: userParts(attachment['prompt'], calls) } : undefined
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

/** The state of a reading. `open` holds the answers whose last line has not been read yet. */
type Reading = {
  readonly lastLineOf: ReadonlyMap<string, number>
  readonly calls: ToolCalls
  readonly lineId: (text: string) => string
  readonly open: Map<string, Draft>
}

const idOf = ({ lineId }: Reading, { json, text }: ObjectLine): string =>
  isExternalId(json['uuid']) ? json['uuid'] : lineId(text)

const answer = (
  { calls }: Reading,
  { json, number: order }: ObjectLine,
  externalId: string,
  earlier?: Draft,
): Draft => {
  const parts = earlier?.parts ?? []
  for (const part of assistantParts(json, calls, externalId, parts.length)) parts.push(part)
  if (earlier) return { ...modelPart(json), ...earlier }
  return { externalId, role: 'assistant', ...modelPart(json), order, ...timeOf(json), parts }
}

/** The message that this line completes; undefined when there is none. */
const readLine = (reading: Reading, line: ObjectLine): SessionMessage | undefined => {
  const { json, number: order } = line
  const { open, lastLineOf, calls } = reading
  const shared = answerId(json)
  if (shared !== undefined) {
    const draft = answer(reading, line, shared, open.get(shared))
    open.set(shared, draft)
    if (lastLineOf.get(shared) !== order) return undefined
    open.delete(shared)
    return draft
  }
  if (json['type'] === 'assistant') return isFiller(json) ? undefined : answer(reading, line, idOf(reading, line))
  const own = ownMessage(json, calls)
  if (!own || own.parts.length === 0) return undefined
  return { externalId: idOf(reading, line), role: own.role, order, ...timeOf(json), parts: own.parts }
}

/**
 * The messages of a session (README, rules 3 to 9). The lines of one answer are merged wherever they are in the file;
 * `lastLineOf` gives the last line of each answer, so that it is yielded there and need not be kept longer.
 */
export async function* messagesOf(
  lines: AsyncIterable<ObjectLine>,
  lastLineOf: ReadonlyMap<string, number>,
): AsyncGenerator<SessionMessage> {
  const reading: Reading = { lastLineOf, calls: newToolCalls(), lineId: newLineIds(), open: new Map() }
  for await (const line of lines) {
    const message = readLine(reading, line)
    if (message && message.parts.length > 0) yield message
  }
  // Answers are still open only when the file changed between the two readings.
  for (const draft of reading.open.values()) if (draft.parts.length > 0) yield draft
}
