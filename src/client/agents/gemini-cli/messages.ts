import type { Part, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { contentParts, contentText, resultText } from '../support/gemini-content.ts'
import { draftOfSaid, type PartOrSaid, saidIn } from '../support/injected.ts'
import { type Json, millisecondsOf, objectsIn, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { argsWithoutBinary, callWithResult, type Draft, errorPart, newMessage, thinkingPart } from '../support/parts.ts'
import { type History, messagesIn } from './history.ts'

const thoughtParts = (thought: Json): readonly Part[] =>
  thinkingPart([thought['subject'], thought['description']].filter(textOf).join('\n'))

/** A call, and its result once there is one (README, rules 5 and 6). */
const toolParts = ({ id, name, args, result, status }: Json, fallbackId: string): readonly Part[] =>
  callWithResult(
    { id, name, args: argsWithoutBinary(args), fallbackId },
    result === undefined || result === null
      ? undefined
      : { output: resultText(result), hasFailed: status !== 'success' },
  )

const answerParts = (message: Json, id: string): readonly Part[] => [
  ...objectsIn(message['thoughts']).flatMap(thoughtParts),
  ...contentParts(message['content']),
  ...objectsIn(message['toolCalls']).flatMap((call, index) => toolParts(call, `${id}-call-${index + 1}`)),
]

const saidInPart = (part: Part): readonly PartOrSaid[] =>
  part.type === 'text' ? saidIn(part.content.text, 'gemini-cli') : [part]

const userDraft = ({ displayContent, content }: Json): Draft => {
  const shown = contentParts(displayContent)
  const parts = shown.length > 0 ? shown : contentParts(content)
  return draftOfSaid(parts.flatMap(saidInPart))
}

/** The draft of a message with this externalId; undefined for unknown types (README, rule 5). */
export const draftOf = (message: Json, id: string): Draft | undefined => {
  switch (message['type']) {
    case 'user':
      return userDraft(message)
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

/** The messages of a line, without those that later lines remove or write again. */
export const messagesOf = (line: ObjectLine, { places }: History): readonly SessionMessage[] =>
  messagesIn(line).flatMap(({ id, json, index }) => {
    const place = places.get(id)
    if (place?.line !== line.number || place.index !== index) return []
    const externalId = acceptedId(id, 'message')
    const draft = draftOf(json, externalId)
    if (!draft || draft.parts.length === 0) return []
    return newMessage({
      externalId,
      ...draft,
      model: draft.role === 'assistant' ? textOf(json['model']) : undefined,
      order: place.order,
      timestamp: millisecondsOf(json['timestamp']),
    })
  })
