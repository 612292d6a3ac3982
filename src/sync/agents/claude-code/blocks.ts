import { type Json, objectOf, textOf } from '../support/json.ts'

export const messageOf = (json: Json): Json => objectOf(json['message'])

/** The text of all text blocks, joined with newlines; undefined when all are blank. */
export const textOfBlocks = (blocks: readonly Json[]): string | undefined =>
  textOf(
    blocks
      .filter((block) => block['type'] === 'text' && textOf(block['text']))
      .map((block) => block['text'])
      .join('\n'),
  )
