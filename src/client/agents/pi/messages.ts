import type { Usage } from '../../../contract/usage.ts'
import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { draftOfSaid, type Said, saidIn } from '../support/injected.ts'
import { type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import {
  argsOfJson,
  blocksOf,
  callPart,
  type Draft,
  errorPart,
  newMessage,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { usageOf } from '../support/usage.ts'

/** The text of a text block, or the one that replaces an image; undefined for other blocks (README, rule 5). */
const blockText = (block: Json): string | undefined => {
  if (block['type'] === 'text') return textOf(block['text'])
  if (block['type'] !== 'image') return undefined
  return mediaPlaceholder('image', textOf(block['mimeType']), textOf(block['data'])?.length)
}

const textsOf = (content: unknown): readonly string[] => blocksOf(content).flatMap((block) => blockText(block) ?? [])

const skill = /^\s*<skill name="([^"\n]+)"[^>]*>.*<\/skill>\s*/s

/** What a text of the user says: the text of a skill is replaced by the command that has loaded it (README, rule 3). */
const saidByUser = (text: string): readonly Said[] => {
  const found = skill.exec(text)
  if (!found) return saidIn(text, 'pi')
  return [{ is: 'typed', text: `/skill:${found[1]} ${text.slice(found[0].length)}`.trim() }]
}

/** The draft of what the user typed. */
const userDraft = (content: unknown): Draft => draftOfSaid(textsOf(content).flatMap(saidByUser))

const answerBlock = (block: Json, calls: ToolCalls, fallbackId: string): readonly Part[] => {
  switch (block['type']) {
    case 'thinking':
      return thinkingPart(block['thinking'])
    case 'toolCall': {
      const { id, name, arguments: args } = block
      return [callPart(calls, { id, name, args: argsOfJson(args), fallbackId })]
    }
    default:
      return textPart(blockText(block))
  }
}

/** The parts of an answer (README, rule 4). A call without an id gets one from the message's id and the number of the part. */
const answerParts = (message: Json, calls: ToolCalls, messageId: () => string): readonly Part[] => {
  const parts: Part[] = []
  for (const block of blocksOf(message['content'])) {
    const needsId = block['type'] === 'toolCall'
    parts.push(...answerBlock(block, calls, needsId ? `${messageId()}-call-${parts.length + 1}` : ''))
  }
  const { stopReason } = message
  if (stopReason === 'error' || stopReason === 'aborted')
    parts.push(errorPart(textOf(message['errorMessage']) ?? stopReason))
  return parts
}

/** The part of a tool's result (README, rule 5). */
const toolResultPart = ({ toolCallId, toolName: named, content, isError }: Json, calls: ToolCalls): Part => {
  const { callId, toolName } = calls.findForResult(toolCallId)
  const output = withoutBase64(textsOf(content).join('\n'))
  return resultPart({ callId, toolName: textOf(named) ?? toolName }, output, isError === true)
}

/** The part of a command that the user ran, in the same form in all agents (README, rule 5). */
const bashParts = ({ command, output }: Json): readonly Part[] => {
  const typed = textOf(command)
  return textPart([typed === undefined ? undefined : `! ${typed}`, textOf(output)].filter(Boolean).join('\n'))
}

const messageOf = (json: Json): Json => objectOf(json['message'])

const summary = (value: unknown): Draft => ({ role: 'system', parts: textPart(value) })

/** The draft of an entry of type `message` (README, rules 3 to 5). */
const messageDraft = (message: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  switch (message['role']) {
    case 'user':
      return userDraft(message['content'])
    case 'assistant':
      return { role: 'assistant', parts: answerParts(message, calls, messageId) }
    case 'toolResult':
      return { role: 'user', parts: [toolResultPart(message, calls)] }
    case 'bashExecution':
      return { role: 'system', parts: bashParts(message) }
    case 'branchSummary':
    case 'compactionSummary':
      return summary(message['summary'])
    default:
      return undefined
  }
}

/** The draft of an entry's message; undefined for entries that are no message (README, rules 3 to 7). */
const draftOf = (json: Json, calls: ToolCalls, messageId: () => string): Draft | undefined => {
  switch (json['type']) {
    case 'message':
      return messageDraft(messageOf(json), calls, messageId)
    case 'compaction':
    case 'branch_summary':
      return summary(json['summary'])
    default:
      return undefined
  }
}

const ROLES = [
  'user',
  'assistant',
  'toolResult',
  'bashExecution',
  'branchSummary',
  'compactionSummary',
  'custom',
  'hookMessage',
]
const BLOCKS = ['text', 'image', 'thinking', 'toolCall']

/** What an entry of type `message` holds that is left out, because its kind is not known (README, rule 11). */
export const unknownInMessage = (json: Json): readonly unknown[] => {
  const { role, content } = messageOf(json)
  return ROLES.includes(String(role)) ? unknownBlocks(blocksOf(content), BLOCKS) : [role]
}

/** What an answer has used. */
const usageIn = ({ usage, responseId }: Json): Usage | undefined => {
  const { input, output, cacheRead, cacheWrite, cost } = objectOf(usage)
  return usageOf({
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    costUsd: objectOf(cost)['total'],
    responseId,
  })
}

const timeOf = (json: Json): number | undefined => {
  const { timestamp } = messageOf(json)
  return millisecondsOf(json['timestamp']) ?? (Number.isSafeInteger(timestamp) ? (timestamp as number) : undefined)
}

/** The message of an entry; undefined for entries that are no message. Its id is made from `textForId` even if the entry has one (README, rule 8). */
export const readEntry = (
  { json, text, number: order }: ObjectLine,
  calls: ToolCalls,
  lineId: (text: string) => string,
  textForId?: string,
): SessionMessage | undefined => {
  let id = textForId === undefined && isExternalId(json['id']) ? json['id'] : undefined
  const messageId = () => (id ??= lineId(textForId ?? text))
  const draft = draftOf(json, calls, messageId)
  if (!draft || draft.parts.length === 0) return undefined
  const answer = draft.role === 'assistant' ? messageOf(json) : {}
  const fields = { model: textOf(answer['model']), order, timestamp: timeOf(json), usage: usageIn(answer) }
  return newMessage({ externalId: messageId(), ...draft, ...fields })
}
