import { isObject, type Json, objectOf, textOf } from '../json.ts'

/** The content blocks of a line's message; a string content is one text block, anything that is no block is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

export const messageOf = (json: Json): Json => objectOf(json['message'])

/** The text of all text blocks, one below the other. */
export const textOfBlocks = (blocks: readonly Json[]): string | undefined =>
  textOf(
    blocks
      .filter((block) => block['type'] === 'text' && textOf(block['text']))
      .map((block) => block['text'])
      .join('\n'),
  )
