import type { Part } from '../agent.ts'
import { argsOfJson, blocksOf, callPart, resultPart, textPart, thinkingPart } from '../support/parts.ts'
import { isObject, type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import type { ToolCalls } from '../support/tool-calls.ts'

const fileName = (path: unknown): string | undefined =>
  textOf(path)
    ?.split(/[\\/]/)
    .findLast((name) => name !== '')

const attachmentText = (attachment: Json): string => {
  const { type, mimeType, displayName, path, filePath, data } = attachment
  const label = textOf(mimeType) ?? textOf(displayName) ?? fileName(path) ?? fileName(filePath)
  return mediaPlaceholder(textOf(type) ?? 'attachment', label, textOf(data)?.length)
}

/** The parts of a prompt (README, rule 2). */
export const promptParts = ({ content, attachments }: Json): readonly Part[] => [
  ...textPart(content),
  ...objectsIn(attachments).map(attachmentText).flatMap(textPart),
]

/** The parts of an answer (README, rule 3). `isNew` tells whether a text of thinking is new. */
export const answerParts = (
  data: Json,
  calls: ToolCalls,
  messageId: () => string,
  isNew: (thinking: string) => boolean,
): readonly Part[] => [
  ...newThinking(data['reasoningText'], isNew),
  ...textPart(data['content']),
  ...objectsIn(data['toolRequests']).map(({ toolCallId: id, name, arguments: args }, index) =>
    callPart(calls, { id, name, args: argsOfJson(args), fallbackId: `${messageId()}-call-${index + 1}` }),
  ),
]

/** The part of a thinking text; no part where the text is not new (README, rule 4). */
export const newThinking = (value: unknown, isNew: (thinking: string) => boolean): readonly Part[] => {
  const thinking = textOf(value)
  return thinking !== undefined && isNew(thinking) ? thinkingPart(thinking) : []
}

const outputOf = (content: unknown): string | undefined => {
  if (typeof content === 'string') return content
  const texts = blocksOf(content).flatMap(({ text }) => textOf(text) ?? [])
  return texts.length === 0 ? undefined : texts.join('\n')
}

const errorOf = (error: unknown): string | undefined => textOf(error) ?? textOf(objectOf(error)['message'])

/** The part of a result (README, rule 5). */
export const executionPart = ({ toolCallId, success, result, error }: Json, calls: ToolCalls): Part => {
  const output = outputOf(isObject(result) ? result['content'] : result) ?? errorOf(error) ?? ''
  return resultPart(calls.findForResult(toolCallId), withoutBase64(output), success === false)
}
