import type { Part } from '../agent.ts'
import { argsOf } from '../support/args.ts'
import { blocksOf } from '../support/content-blocks.ts'
import { type Json, textOf } from '../support/json.ts'
import { errorPart, textPart, thinkingPart } from '../support/parts.ts'
import { messageOf, textOfBlocks } from './blocks.ts'
import type { ToolCalls } from '../support/tool-calls.ts'

const synthetic = '<synthetic>'

/** The model of an answer; undefined for lines that the CLI wrote itself (README, rule 4). */
export const modelOf = (json: Json): string | undefined => {
  const model = textOf(messageOf(json)['model'])
  return model === synthetic ? undefined : model
}

/** Whether the CLI wrote the line itself, as "No response requested.", and not to report an error (README, rule 4). */
export const isFiller = (json: Json): boolean =>
  messageOf(json)['model'] === synthetic && json['isApiErrorMessage'] !== true

const partsOf = (block: Json, calls: ToolCalls, fallback: string): readonly Part[] => {
  switch (block['type']) {
    case 'text':
      return textPart(block['text'])
    case 'thinking':
      return thinkingPart(block['thinking'])
    case 'tool_use': {
      const call = calls.add(block['id'], textOf(block['name']) ?? 'unknown', fallback)
      return [{ type: 'tool_call', content: { ...call, args: argsOf(block['input']) } }]
    }
    default:
      return []
  }
}

/**
 * The parts of one assistant line (README, rules 3 and 4). `before` is how many parts the message has already: the id of a
 * tool call without one is made of the message's id and the part's number.
 */
export const assistantParts = (json: Json, calls: ToolCalls, messageId: string, before: number): readonly Part[] => {
  const blocks = blocksOf(messageOf(json)['content'])
  if (messageOf(json)['model'] === synthetic)
    return [errorPart(textOfBlocks(blocks) ?? textOf(json['error']) ?? 'API error')]
  const parts: Part[] = []
  for (const block of blocks) parts.push(...partsOf(block, calls, `${messageId}-call-${before + parts.length + 1}`))
  return parts
}
