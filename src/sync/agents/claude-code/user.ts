import type { Part } from '../agent.ts'
import { blocksOf, isMedia, placeholder } from '../support/content-blocks.ts'
import { type Json, textOf } from '../support/json.ts'
import { textPart } from '../support/parts.ts'
import { textOfBlocks } from './blocks.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { typedText } from './user-text.ts'

const outputOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  return blocksOf(content)
    .map((block) => {
      if (typeof block['text'] === 'string') return block['text']
      if (isMedia(block)) return placeholder(block)
      return `[${[block['type'], block['tool_name']].filter(textOf).join(' ')}]`
    })
    .join('\n')
}

/** What a user line needs of others, and of other files. `wholeOutput` gives all of an output that the line has a part of. */
export type UserContext = { readonly calls: ToolCalls; readonly wholeOutput: (output: string) => string }

const toolResult = (block: Json, { calls, wholeOutput }: UserContext): Part => ({
  type: 'tool_result',
  content: {
    ...calls.findForResult(block['tool_use_id']),
    output: wholeOutput(outputOf(block['content'])),
    status: block['is_error'] === true ? 'error' : 'success',
  },
})

const partsOf = (block: Json, context: UserContext): readonly Part[] => {
  if (block['type'] === 'tool_result') return [toolResult(block, context)]
  if (isMedia(block)) return textPart(placeholder(block))
  return block['type'] === 'text' && typeof block['text'] === 'string' ? textPart(typedText(block['text'])) : []
}

/** The parts of a user line: what the user typed, and results of tools (README, rule 5). */
export const userParts = (content: unknown, context: UserContext): readonly Part[] =>
  blocksOf(content).flatMap((block) => partsOf(block, context))

/** The part of a compaction's summary. */
export const summaryParts = (content: unknown): readonly Part[] => textPart(textOfBlocks(blocksOf(content)))
