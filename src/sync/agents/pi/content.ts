import type { Part } from '../agent.ts'
import { argsOfJson, blocksOf, callPart, errorPart, resultPart, textPart, thinkingPart } from '../support/parts.ts'
import { type Json, textOf } from '../support/json.ts'
import { mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import type { ToolCalls } from '../support/tool-calls.ts'

/** The text of a text block, or the one that replaces an image; undefined for other blocks (README, rule 5). */
const blockText = (block: Json): string | undefined => {
  if (block['type'] === 'text') return textOf(block['text'])
  if (block['type'] !== 'image') return undefined
  return mediaPlaceholder('image', textOf(block['mimeType']), textOf(block['data'])?.length)
}

const textsOf = (content: unknown): readonly string[] => blocksOf(content).flatMap((block) => blockText(block) ?? [])

const skill = /^\s*<skill name="([^"\n]+)"[^>]*>.*<\/skill>\s*/s

/** What the user typed: the text of a skill is replaced by the command that has loaded it (README, rule 3). */
const typedText = (text: string): string => {
  const found = skill.exec(text)
  return found ? `/skill:${found[1]} ${text.slice(found[0].length)}`.trim() : text
}

/** The parts of what the user typed. */
export const userParts = (content: unknown): readonly Part[] => textsOf(content).map(typedText).flatMap(textPart)

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
export const answerParts = (message: Json, calls: ToolCalls, messageId: () => string): readonly Part[] => {
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
export const toolResultPart = ({ toolCallId, toolName: named, content, isError }: Json, calls: ToolCalls): Part => {
  const { callId, toolName } = calls.findForResult(toolCallId)
  const output = withoutBase64(textsOf(content).join('\n'))
  return resultPart({ callId, toolName: textOf(named) ?? toolName }, output, isError === true)
}

/** The part of a command that the user ran (README, rule 5). */
export const bashParts = ({ command, output }: Json): readonly Part[] => {
  const typed = textOf(command)
  return textPart([typed === undefined ? undefined : `$ ${typed}`, textOf(output)].filter(Boolean).join('\n'))
}
