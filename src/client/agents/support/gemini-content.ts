import type { Part } from '../agent.ts'
import { isObject, type Json, objectOf, textOf } from './json.ts'
import { kindOf, mediaPlaceholder } from './media.ts'
import { outputOfValue, textPart, thinkingPart } from './parts.ts'

/** The parts of content that is a string, one part, or a list of both (a `PartListUnion` of Gemini's API). */
export const contentList = (content: unknown): readonly Json[] =>
  (Array.isArray(content) ? (content as readonly unknown[]) : [content]).flatMap((part) => {
    if (typeof part === 'string') return [{ text: part }]
    return isObject(part) ? [part] : []
  })

/** The text that replaces binary content or a file; undefined for other parts. */
const mediaOf = (part: Json): string | undefined => {
  for (const name of ['inlineData', 'fileData']) {
    const media = part[name]
    if (!isObject(media)) continue
    const type = textOf(media['mimeType'])
    return mediaPlaceholder(kindOf(type), type, textOf(media['data'])?.length)
  }
  return undefined
}

/** The parts of a message's content: adjacent texts are one text, as the agents show them. `otherwise` gives those of parts of other kinds. */
export const contentParts = (
  content: unknown,
  otherwise: (part: Json) => readonly Part[] = () => [],
): readonly Part[] => {
  const parts: Part[] = []
  let text = ''
  const flush = () => {
    parts.push(...textPart(text))
    text = ''
  }
  for (const part of contentList(content)) {
    if (part['thought'] !== true && typeof part['text'] === 'string') {
      text += part['text']
      continue
    }
    const media = mediaOf(part)
    const known = part['thought'] === true ? thinkingPart(part['text']) : textPart(media)
    const other = known.length > 0 ? known : otherwise(part)
    if (other.length > 0) flush()
    parts.push(...other)
  }
  flush()
  return parts
}

/** All of content as one text, such as an error's; undefined if it is blank. */
export const contentText = (content: unknown): string | undefined =>
  textOf(
    contentList(content)
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

/** The output of a tool from the parts of its result. */
export const resultText = (result: unknown): string => contentList(result).flatMap(outputOf).join('\n')
