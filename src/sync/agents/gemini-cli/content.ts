import type { Part } from '../agent.ts'
import { isObject, type Json, objectOf, textOf } from '../support/json.ts'
import { kindOf, mediaPlaceholder } from '../support/media.ts'
import { outputOfValue, textPart, thinkingPart } from '../support/parts.ts'

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
export const contentParts = (content: unknown): readonly Part[] => {
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
export const contentText = (content: unknown): string | undefined =>
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
export const resultText = (result: unknown): string => listOf(result).flatMap(outputOf).join('\n')
