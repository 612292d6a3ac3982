import type { Part, SessionMessage } from '../agent.ts'
import { argsWithoutBinary } from '../support/args.ts'
import { acceptedId, isExternalId } from '../support/external-ids.ts'
import { type Json, millisecondsOf, objectsIn, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { errorPart, thinkingPart } from '../support/parts.ts'
import { contentParts, contentText, resultText } from './content.ts'
import { type History, messagesIn } from './history.ts'

type Read = Pick<SessionMessage, 'role' | 'parts'>

const thoughtParts = (thought: Json): readonly Part[] =>
  thinkingPart([thought['subject'], thought['description']].filter(textOf).join('\n'))

/** A call, and its result if there is one (README, rules 5 and 6). `fallbackId` is for a call without an id. */
const toolParts = (call: Json, fallbackId: string): readonly Part[] => {
  const { id, result } = call
  const names = { callId: isExternalId(id) ? id : fallbackId, toolName: textOf(call['name']) ?? 'unknown' }
  const made: Part = { type: 'tool_call', content: { ...names, args: argsWithoutBinary(call['args']) } }
  if (result === undefined || result === null) return [made]
  const status = call['status'] === 'success' ? 'success' : 'error'
  return [made, { type: 'tool_result', content: { ...names, output: resultText(result), status } }]
}

const answerParts = (message: Json, id: string): readonly Part[] => [
  ...objectsIn(message['thoughts']).flatMap(thoughtParts),
  ...contentParts(message['content']),
  ...objectsIn(message['toolCalls']).flatMap((call, index) => toolParts(call, `${id}-call-${index + 1}`)),
]

const typedParts = ({ displayContent, content }: Json): readonly Part[] => {
  const parts = contentParts(displayContent)
  return parts.length > 0 ? parts : contentParts(content)
}

/** The role and the parts of a message with this externalId; undefined for unknown types (README, rule 5). */
export const readMessage = (message: Json, id: string): Read | undefined => {
  switch (message['type']) {
    case 'user':
      return { role: 'user', parts: typedParts(message) }
    case 'gemini':
      return { role: 'assistant', parts: answerParts(message, id) }
    case 'info':
    case 'warning':
      return { role: 'system', parts: contentParts(message['content']) }
    case 'error':
      return { role: 'system', parts: [errorPart(contentText(message['content']) ?? 'Error')] }
    default:
      return undefined
  }
}

/** The messages of a line that are left of the session, and were not written again later. */
export const messagesOf = (line: ObjectLine, { places }: History): readonly SessionMessage[] =>
  messagesIn(line).flatMap(({ id, json, index }) => {
    const place = places.get(id)
    if (place?.line !== line.number || place.index !== index) return []
    const externalId = acceptedId(id, 'message')
    const read = readMessage(json, externalId)
    if (!read || read.parts.length === 0) return []
    const model = read.role === 'assistant' ? textOf(json['model']) : undefined
    const timestamp = millisecondsOf(json['timestamp'])
    return {
      externalId,
      role: read.role,
      ...(model === undefined ? {} : { model }),
      order: place.order,
      ...(timestamp === undefined ? {} : { timestamp }),
      parts: read.parts,
    }
  })
