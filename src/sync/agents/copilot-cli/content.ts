import type { Part } from '../agent.ts'
import { argsOfJson } from '../support/args.ts'
import { blocksOf } from '../support/content-blocks.ts'
import { isObject, type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { mediaPlaceholder, withoutBase64 } from '../support/media.ts'
import { textPart, thinkingPart } from '../support/parts.ts'
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

const callPart = (request: Json, calls: ToolCalls, fallbackId: string): Part => {
  const call = calls.add(request['toolCallId'], textOf(request['name']) ?? 'unknown', fallbackId)
  return { type: 'tool_call', content: { ...call, args: argsOfJson(request['arguments']) } }
}

/** The parts of an answer (README, rule 3). `isNew` tells whether its thinking was not said before. */
export const answerParts = (
  data: Json,
  calls: ToolCalls,
  messageId: () => string,
  isNew: (thinking: string) => boolean,
): readonly Part[] => [
  ...newThinking(data['reasoningText'], isNew),
  ...textPart(data['content']),
  ...objectsIn(data['toolRequests']).map((request, index) =>
    callPart(request, calls, `${messageId()}-call-${index + 1}`),
  ),
]

/** The part of thinking that was not said before (README, rule 4). */
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
export const resultPart = ({ toolCallId, success, result, error }: Json, calls: ToolCalls): Part => ({
  type: 'tool_result',
  content: {
    ...calls.findForResult(toolCallId),
    output: withoutBase64(outputOf(isObject(result) ? result['content'] : result) ?? errorOf(error) ?? ''),
    status: success === false ? 'error' : 'success',
  },
})
