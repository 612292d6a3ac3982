import type { Part, SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { isObject, type Json, millisecondsOf, objectOf, objectsIn, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { kindOf, mediaPlaceholder } from '../support/media.ts'
import {
  argsWithoutBinary,
  callWithResult,
  type Draft,
  errorPart,
  newMessage,
  outputOfValue,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { type History, messagesIn } from './history.ts'

/** The parts of content that is a string, one part, or a list of both (a `PartListUnion` of Gemini's API). */
const listOf = (content: unknown): readonly Json[] =>
  (Array.isArray(content) ? (content as readonly unknown[]) : [content]).flatMap((part) => {
    if (typeof part === 'string') return [{ text: part }]
    return isObject(part) ? [part] : []
  })

/** The text that replaces binary content or a file (README, rule 7). */
const mediaOf = (part: Json): string | undefined => {
  for (const name of ['inlineData', 'fileData']) {
    const media = part[name]
    if (!isObject(media)) continue
    const type = textOf(media['mimeType'])
    return mediaPlaceholder(kindOf(type), type, textOf(media['data'])?.length)
  }
  return undefined
}

/** The parts of a message's content: adjacent texts are one text, as the CLI shows them. */
const contentParts = (content: unknown): readonly Part[] => {
  const parts: Part[] = []
  let text = ''
  const flush = () => {
    parts.push(...textPart(text))
    text = ''
  }
  for (const part of listOf(content)) {
    if (part['thought'] !== true && typeof part['text'] === 'string') {
      text += part['text']
      continue
    }
    const media = mediaOf(part)
    const other = part['thought'] === true ? thinkingPart(part['text']) : textPart(media)
    if (other.length > 0) flush()
    parts.push(...other)
  }
  flush()
  return parts
}

/** All of content as one text, such as an error's. */
const contentText = (content: unknown): string | undefined =>
  textOf(
    listOf(content)
      .map((part) => (typeof part['text'] === 'string' ? part['text'] : (mediaOf(part) ?? '')))
      .join(''),
  )

const outputOf = (part: Json): string[] => {
  if (typeof part['text'] === 'string') return [part['text']]
  const answer = part['functionResponse']
  if (!isObject(answer)) return [mediaOf(part) ?? outputOfValue(part)]
  const media = Array.isArray(answer['parts']) ? answer['parts'].map((one) => mediaOf(objectOf(one))) : []
  const response = objectOf(answer['response'])
  return [
    outputOfValue(response['output'] ?? response['error'] ?? response),
    ...media.filter((text) => text !== undefined),
  ]
}

/** The output of a tool from the `result` of its call (README, rule 6). */
const resultText = (result: unknown): string => listOf(result).flatMap(outputOf).join('\n')

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

const typedParts = ({ displayContent, content }: Json): readonly Part[] => {
  const parts = contentParts(displayContent)
  return parts.length > 0 ? parts : contentParts(content)
}

/** The draft of a message with this externalId; undefined for unknown types (README, rule 5). */
export const draftOf = (message: Json, id: string): Draft | undefined => {
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
