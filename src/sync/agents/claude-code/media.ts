import { type Json, objectOf, textOf } from '../support/json.ts'
import { mediaText } from '../support/media.ts'

/**
 * The text that replaces an image or a document: `[image image/png 415 kB]` (README, rule 5). The size is that of the base64
 * text in the file.
 */
export const placeholder = (block: Json): string => {
  const source = objectOf(block['source'])
  return mediaText(String(block['type']), textOf(source['media_type']), textOf(source['data'])?.length)
}

export const isMedia = (block: Json): boolean => block['type'] === 'image' || block['type'] === 'document'
