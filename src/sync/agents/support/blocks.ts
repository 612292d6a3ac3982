import { isObject, type Json } from './json.ts'

/** The content blocks of a message. A string is one text block; anything else that is not a block is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}
