import { isObject, type Json, objectOf, textOf } from '../support/json.ts'

/** The content blocks of a message. A string is one text block; anything else that is not a block is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

export const messageOf = (json: Json): Json => objectOf(json['message'])

/** The text of all text blocks, joined with newlines; undefined when all are blank. */
export const textOfBlocks = (blocks: readonly Json[]): string | undefined =>
  textOf(
    blocks
      .filter((block) => block['type'] === 'text' && textOf(block['text']))
      .map((block) => block['text'])
      .join('\n'),
  )
