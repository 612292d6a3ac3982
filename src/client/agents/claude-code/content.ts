import type { Part } from '../agent.ts'
import { type Json, objectOf, textOf } from '../support/json.ts'
import {
  argsOf,
  blocksOf,
  callPart,
  errorPart,
  isMedia,
  outputOfBlocks,
  placeholder,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'

/** The beginnings of texts that the CLI inserts into user messages (README, rule 5). */
const INJECTED = [
  '<local-command-caveat>',
  '<local-command-stdout>',
  '<local-command-stderr>',
  '<bash-stdout>',
  '<bash-stderr>',
  '<system-reminder>',
  '<task-notification>',
  '[Request interrupted',
  'Stop hook feedback:',
]
/** Elements that IDEs put in front of what the user typed. */
const IDE_TAGS = ['ide_opened_file', 'ide_selection']

/** The trimmed content of the first `<tag>…</tag>`. */
const element = (text: string, tag: string): string | undefined => {
  const start = text.indexOf(`<${tag}>`)
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start)
  return end === -1 ? undefined : text.slice(start + tag.length + 2, end).trim()
}

const withoutIdeElements = (text: string): string => {
  for (let rest = text; ;) {
    const trimmed = rest.trimStart()
    const tag = IDE_TAGS.find((name) => trimmed.startsWith(`<${name}>`))
    const end = tag ? trimmed.indexOf(`</${tag}>`) : -1
    if (!tag || end === -1) return rest
    rest = trimmed.slice(end + tag.length + 3).trimStart()
  }
}

const slashCommand = (text: string): string | undefined => {
  const name = element(text, 'command-name') || element(text, 'command-message')
  return name && [`/${name.replace(/^\//, '')}`, element(text, 'command-args')].filter(Boolean).join(' ')
}

/**
 * The text that the user typed in one text block of a user line; undefined if the CLI wrote all of it. A slash command
 * becomes `/name args` (README, rule 5).
 */
export const typedText = (block: string): string | undefined => {
  const text = withoutIdeElements(block)
  const start = text.trimStart()
  if (start === '' || INJECTED.some((prefix) => start.startsWith(prefix))) return undefined
  if (start.startsWith('<command-name>') || start.startsWith('<command-message>')) return slashCommand(start) ?? text
  return text
}

export const messageOf = (json: Json): Json => objectOf(json['message'])

/** The text of all text blocks, joined with newlines; undefined if all are blank. */
const textOfBlocks = (blocks: readonly Json[]): string | undefined =>
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
    default:
      return []
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

const partsOfUser = (block: Json, { calls, wholeOutput }: UserContext): readonly Part[] => {
  if (block['type'] === 'tool_result') {
    const call = calls.findForResult(block['tool_use_id'])
    return [resultPart(call, wholeOutput(outputOf(block['content'])), block['is_error'] === true)]
  }
  if (isMedia(block)) return textPart(placeholder(block))
  return block['type'] === 'text' && typeof block['text'] === 'string' ? textPart(typedText(block['text'])) : []
}

/** The parts of a user line: what the user typed, and results of tools (README, rule 5). */
export const userParts = (content: unknown, context: UserContext): readonly Part[] =>
  blocksOf(content).flatMap((block) => partsOfUser(block, context))

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
