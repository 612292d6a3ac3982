import { isObject, type Json, objectOf, textOf } from './json.ts'
import { mediaText } from './media.ts'

/** The content blocks of a message, as Anthropic's API has them. A string is one text block; what is no block is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

export const isMedia = (block: Json): boolean => block['type'] === 'image' || block['type'] === 'document'

/**
 * The text that replaces an image or a document: `[image image/png 415 kB]`. The size is that of the base64 text that the
 * agent has stored.
 */
export const placeholder = (block: Json): string => {
  const source = objectOf(block['source'])
  return mediaText(String(block['type']), textOf(source['media_type']), textOf(source['data'])?.length)
}
