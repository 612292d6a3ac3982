import type { Usage } from '../../../contract/usage.ts'
import type { Part } from '../agent.ts'
import { draftOfSaid, type PartOrSaid, saidIn } from '../support/injected.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import {
  argsOf,
  blocksOf,
  callPart,
  type Draft,
  errorPart,
  isMedia,
  outputOfBlocks,
  placeholder,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { usageOf } from '../support/usage.ts'
import { isResultOfServer, serverResult, serverToolName } from './server-tools.ts'

export const messageOf = (json: Json): Json => objectOf(json['message'])

/** The text of all text blocks, joined with newlines; undefined if all are blank. */
export const textOfBlocks = (blocks: readonly Json[]): string | undefined =>
  textOf(
    blocks
      .filter((block) => block['type'] === 'text' && textOf(block['text']))
      .map((block) => block['text'])
      .join('\n'),
  )

const synthetic = '<synthetic>'

/** The model of an answer; undefined for lines that the CLI wrote itself (README, rule 4). */
export const modelOf = (json: Json): string | undefined => {
  const model = textOf(messageOf(json)['model'])
  return model === synthetic ? undefined : model
}

/** What an answer has used, as one of its lines says it. */
const usageIn = (json: Json): Usage | undefined => {
  const { id, usage } = messageOf(json)
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens_details } =
    objectOf(usage)
  return usageOf({
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    cacheReadTokens: cache_read_input_tokens,
    cacheWriteTokens: cache_creation_input_tokens,
    reasoningTokens: objectOf(output_tokens_details)['thinking_tokens'],
    responseId: id,
  })
}

/** What an answer has used, as one more of its lines and those before it say: that with most output, because earlier lines were written before its end. */
export const usageWith = (json: Json, earlier: Usage | undefined): Usage | undefined => {
  const { output_tokens } = objectOf(messageOf(json)['usage'])
  // Most lines of an answer repeat what the first one says.
  if (earlier && output_tokens === earlier.outputTokens) return earlier
  const usage = usageIn(json)
  return (usage?.outputTokens ?? -1) > (earlier?.outputTokens ?? -1) ? usage : (earlier ?? usage)
}

/** Whether the CLI wrote the line itself, such as "No response requested.", without reporting an error (README, rule 4). */
export const isFiller = (json: Json): boolean =>
  messageOf(json)['model'] === synthetic && json['isApiErrorMessage'] !== true

const partsOfAnswer = (block: Json, calls: ToolCalls, fallbackId: string): readonly Part[] => {
  switch (block['type']) {
    case 'text':
      return textPart(block['text'])
    case 'thinking':
      return thinkingPart(block['thinking'])
    case 'tool_use':
      return [callPart(calls, { id: block['id'], name: block['name'], args: argsOf(block['input']), fallbackId })]
    case 'server_tool_use':
    case 'mcp_tool_use':
      return [
        callPart(calls, { id: block['id'], name: serverToolName(block), args: argsOf(block['input']), fallbackId }),
      ]
    default:
      if (isMedia(block)) return textPart(placeholder(block))
      return isResultOfServer(String(block['type'])) ? [serverResult(block, calls)] : []
  }
}

/**
 * The parts of one assistant line (README, rules 3 and 4). `before` is how many parts the message has already: a tool call without
 * an id gets one from the message's id and the number of the part.
 */
export const assistantParts = (json: Json, calls: ToolCalls, messageId: string, before: number): readonly Part[] => {
  const blocks = blocksOf(messageOf(json)['content'])
  if (messageOf(json)['model'] === synthetic)
    return [errorPart(textOfBlocks(blocks) ?? textOf(json['error']) ?? 'API error')]
  const parts: Part[] = []
  for (const block of blocks)
    parts.push(...partsOfAnswer(block, calls, `${messageId}-call-${before + parts.length + 1}`))
  return parts
}

/** What a user line needs of other lines and files. `wholeOutput` replaces the beginning of a long output by all of it. */
export type UserContext = { readonly calls: ToolCalls; readonly wholeOutput: (output: string) => string }

const outputOf = (content: unknown): string =>
  outputOfBlocks(content, (block) => `[${[block['type'], block['tool_name']].filter(textOf).join(' ')}]`)

const partsOfUser = (block: Json, { calls, wholeOutput }: UserContext): readonly PartOrSaid[] => {
  if (block['type'] === 'tool_result') {
    const call = calls.findForResult(block['tool_use_id'])
    return [resultPart(call, wholeOutput(outputOf(block['content'])), block['is_error'] === true)]
  }
  if (isMedia(block)) return [{ is: 'typed', text: placeholder(block) }]
  return block['type'] === 'text' && typeof block['text'] === 'string' ? saidIn(block['text']) : []
}

/** The draft of a user line: what the user typed, results of tools, or what the CLI put there (README, rule 5). */
export const userDraft = (content: unknown, context: UserContext): Draft =>
  draftOfSaid(blocksOf(content).flatMap((block) => partsOfUser(block, context)))

/** The part of a compaction's summary. */
export const summaryParts = (content: unknown): readonly Part[] => textPart(textOfBlocks(blocksOf(content)))

const errorText = (json: Json): string => {
  const error = objectOf(json['error'])
  const inner = objectOf(error['error'])
  const candidates = [
    json['error'],
    error['formatted'],
    error['message'],
    objectOf(inner['error'])['message'],
    inner['message'],
  ]
  const text = [...candidates, json['content']].map(textOf).find((value) => value !== undefined) ?? 'API error'
  const { retryAttempt, maxRetries } = json
  return typeof retryAttempt === 'number' && typeof maxRetries === 'number'
    ? `${text} (retry ${retryAttempt} of ${maxRetries})`
    : text
}

/** The parts of a system line: a compaction or an API error. Other subtypes have no parts (README, rule 6). */
export const systemParts = (json: Json): readonly Part[] => {
  switch (json['subtype']) {
    case 'compact_boundary':
      return textPart(textOf(json['content']) ?? 'Conversation compacted')
    case 'api_error':
      return [errorPart(errorText(json))]
    default:
      return []
  }
}
