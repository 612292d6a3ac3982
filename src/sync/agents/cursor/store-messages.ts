import type { Part, SessionMessage } from '../agent.ts'
import { argsWithoutBinary } from '../support/args.ts'
import { blocksOf } from '../support/content-blocks.ts'
import { isExternalId } from '../support/external-ids.ts'
import { type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, mediaPlaceholder } from '../support/media.ts'
import { outputOfValue } from '../support/output.ts'
import { textPart, thinkingPart } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { isTyped, typedText } from './transcript.ts'

/** A message as it is stored. `id` tells it from all others of its session, `order` is its place among them. */
export type StoreMessage = { readonly id: string; readonly order: number; readonly json: Json }

/** What Cursor adds to a message, or to a block of one. */
const addedTo = (json: Json): Json => objectOf(objectOf(json['providerOptions'])['cursor'])

/** An image or a file that was sent along: `image` or `data` is base64, or an address that may hold it. */
const mediaPart = ({ type, image, data, mimeType }: Json): readonly Part[] => {
  const content = textOf(image) ?? textOf(data)
  const isAddress = content !== undefined && /^[a-z]+:/i.test(content)
  const known = isAddress ? dataUrlPlaceholder(content, String(type)) : undefined
  return textPart(known ?? mediaPlaceholder(type, textOf(mimeType), isAddress ? undefined : content?.length))
}

const callPart = (block: Json, calls: ToolCalls, fallbackId: string): Part => {
  const call = calls.add(block['toolCallId'], textOf(block['toolName']) ?? 'unknown', fallbackId)
  return { type: 'tool_call', content: { ...call, args: argsWithoutBinary(block['args']) } }
}

/** Whether Cursor notes of a message's only result that the tool failed. */
const isNotedAsFailed = (json: Json): boolean => {
  const noted = objectOf(addedTo(json)['highLevelToolCallResult'])
  return noted['isError'] === true || objectOf(noted['output'])['isError'] === true
}

const resultPart = (block: Json, calls: ToolCalls, hasFailed: boolean): Part => {
  const { callId, toolName } = calls.findForResult(block['toolCallId'])
  const given = textOf(block['toolName'])
  const output = outputOfValue(block['result'] ?? block['output'])
  const failed = hasFailed || block['isError'] === true
  return {
    type: 'tool_result',
    content: { callId, toolName: given ?? toolName, output, status: failed ? 'error' : 'success' },
  }
}

/** What the user typed. Beside a text in its tag, all other texts are what Cursor has sent along. */
const partsOfUser = ({ content }: Json): readonly Part[] => {
  const blocks = blocksOf(content)
  const hasTag = blocks.some(({ text }) => typeof text === 'string' && isTyped(text))
  return blocks.flatMap((block) => {
    const { type, text } = block
    if (type === 'image' || type === 'file') return mediaPart(block)
    if (type !== 'text' || typeof text !== 'string') return []
    return hasTag && !isTyped(text) ? [] : textPart(typedText(text))
  })
}

const partsOfAnswer = ({ content }: Json, id: string, calls: ToolCalls): readonly Part[] => {
  const parts: Part[] = []
  for (const block of blocksOf(content))
    if (block['type'] === 'text') parts.push(...textPart(block['text']))
    else if (block['type'] === 'reasoning') parts.push(...thinkingPart(block['text']))
    else if (block['type'] === 'tool-call') parts.push(callPart(block, calls, `${id}-call-${parts.length + 1}`))
    else if (block['type'] === 'image' || block['type'] === 'file') parts.push(...mediaPart(block))
  return parts
}

const partsOfTool = (json: Json, calls: ToolCalls): readonly Part[] => {
  const results = objectsIn(json['content']).filter(({ type }) => type === 'tool-result')
  const hasFailed = results.length === 1 && isNotedAsFailed(json)
  return results.map((block) => resultPart(block, calls, hasFailed))
}

/** The model, which is noted at the answer, or at its blocks. */
const modelOf = (json: Json): string | undefined =>
  [json, ...objectsIn(json['content'])].map((one) => textOf(addedTo(one)['modelName'])).find((name) => name)

const timeOf = ({ createdAt }: Json): number | undefined =>
  typeof createdAt === 'number' && createdAt > 0 && createdAt < 8.64e15 ? Math.round(createdAt) : undefined

/** The role and the parts of a message (README, rule 14). */
const contentOf = (
  { id, json }: StoreMessage,
  calls: ToolCalls,
): Pick<SessionMessage, 'role' | 'parts' | 'model'> | undefined => {
  switch (json['role']) {
    case 'user':
      if (addedTo(json)['isSummary'] === true)
        return { role: 'system', parts: blocksOf(json['content']).flatMap(({ text }) => textPart(text)) }
      return { role: 'user', parts: partsOfUser(json) }
    case 'assistant': {
      const model = modelOf(json)
      return { role: 'assistant', parts: partsOfAnswer(json, id, calls), ...(model === undefined ? {} : { model }) }
    }
    case 'tool':
      return { role: 'user', parts: partsOfTool(json, calls) }
    default:
      return undefined
  }
}

/** The message of a blob; undefined when it has no parts, a role that is not known, or is not complete yet. */
export const messageOfStore = (stored: StoreMessage, calls: ToolCalls): SessionMessage | undefined => {
  if (addedTo(stored.json)['pendingToolCallStartedAtMs'] !== undefined) return undefined
  const content = contentOf(stored, calls)
  if (!content || content.parts.length === 0 || !isExternalId(stored.id)) return undefined
  const timestamp = timeOf(stored.json)
  return {
    externalId: stored.id,
    order: stored.order,
    ...content,
    ...(timestamp === undefined ? {} : { timestamp }),
  }
}
