import { type Json, objectOf, objectsIn, textOf } from './json.ts'
import { mediaPlaceholder } from './media.ts'

/** The content blocks of a message, as Anthropic's API has them. A string is one text block; what is no block is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return objectsIn(content)
}

export const isMedia = (block: Json): boolean => block['type'] === 'image' || block['type'] === 'document'

/** The text that replaces an image or a document. */
export const placeholder = (block: Json): string => {
  const source = objectOf(block['source'])
  return mediaPlaceholder(block['type'], textOf(source['media_type']), textOf(source['data'])?.length)
}
