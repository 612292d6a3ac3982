import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { draftOfSaid, type PartOrSaid } from '../support/injected.ts'
import { type Json, objectOf, objectsIn, textOf } from '../support/json.ts'
import { dataUrlPlaceholder, mediaPlaceholder } from '../support/media.ts'
import {
  argsWithoutBinary,
  blocksOf,
  callPart,
  type Draft,
  outputOfValue,
  resultPart,
  textPart,
  thinkingPart,
} from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'
import { isTyped, saidByUser } from './transcript-messages.ts'

/** A message as it is stored. `id` is unique in its session, `order` its place there. */
type StoreMessage = { readonly id: string; readonly order: number; readonly json: Json }

/** Cursor's additions to a message, or to a block of one. */
const addedTo = (json: Json): Json => objectOf(objectOf(json['providerOptions'])['cursor'])

/** An image or a file in a message: `image` or `data` is base64, or an address, such as a `data:` URL. */
const mediaPart = ({ type, image, data, mimeType }: Json): readonly Part[] => {
  const content = textOf(image) ?? textOf(data)
  const isAddress = content !== undefined && /^[a-z]+:/i.test(content)
  const known = isAddress ? dataUrlPlaceholder(content, String(type)) : undefined
  return textPart(known ?? mediaPlaceholder(type, textOf(mimeType), isAddress ? undefined : content?.length))
}

const callOf = ({ toolCallId: id, toolName: name, args }: Json, calls: ToolCalls, fallbackId: string): Part =>
  callPart(calls, { id, name, args: argsWithoutBinary(args), fallbackId })

/** Whether Cursor has noted beside the only result of a message that the tool failed. */
const isNotedAsFailed = (json: Json): boolean => {
  const noted = objectOf(addedTo(json)['highLevelToolCallResult'])
  return noted['isError'] === true || objectOf(noted['output'])['isError'] === true
}

const resultOf = (block: Json, calls: ToolCalls, isNoted: boolean): Part => {
  const { callId, toolName } = calls.findForResult(block['toolCallId'])
  const call = { callId, toolName: textOf(block['toolName']) ?? toolName }
  return resultPart(call, outputOfValue(block['result'] ?? block['output']), isNoted || block['isError'] === true)
}

/** What the user typed. Where one text has the tag of typed text, Cursor has added all others. */
const draftOfUser = ({ content }: Json): Draft => {
  const blocks = blocksOf(content)
  const hasTag = blocks.some(({ text }) => typeof text === 'string' && isTyped(text))
  const said = blocks.flatMap((block): readonly PartOrSaid[] => {
    const { type, text } = block
    if (type === 'image' || type === 'file') return mediaPart(block)
    if (type !== 'text' || typeof text !== 'string') return []
    return hasTag && !isTyped(text) ? [] : saidByUser(text)
  })
  return draftOfSaid(said)
}

const partsOfAnswer = ({ content }: Json, id: string, calls: ToolCalls): readonly Part[] => {
  const parts: Part[] = []
  for (const block of blocksOf(content))
    if (block['type'] === 'text') parts.push(...textPart(block['text']))
    else if (block['type'] === 'reasoning') parts.push(...thinkingPart(block['text']))
    else if (block['type'] === 'tool-call') parts.push(callOf(block, calls, `${id}-call-${parts.length + 1}`))
    else if (block['type'] === 'image' || block['type'] === 'file') parts.push(...mediaPart(block))
  return parts
}

const partsOfTool = (json: Json, calls: ToolCalls): readonly Part[] => {
  const results = objectsIn(json['content']).filter(({ type }) => type === 'tool-result')
  const isNoted = results.length === 1 && isNotedAsFailed(json)
  return results.map((block) => resultOf(block, calls, isNoted))
}

const BLOCKS = ['text', 'reasoning', 'redacted-reasoning', 'tool-call', 'tool-result', 'image', 'file']

/** What a message holds that is left out, because its kind is not known (README, rule 15). */
export const unknownIn = ({ role, content }: Json): readonly unknown[] =>
  ['user', 'assistant', 'tool', 'system'].includes(String(role)) ? unknownBlocks(blocksOf(content), BLOCKS) : [role]

/** The model, which is noted beside the answer, or beside its blocks. */
const modelOf = (json: Json): string | undefined =>
  [json, ...objectsIn(json['content'])].map((one) => textOf(addedTo(one)['modelName'])).find((name) => name)

const timeOf = ({ createdAt }: Json): number | undefined =>
  typeof createdAt === 'number' && createdAt > 0 && createdAt < 8.64e15 ? Math.round(createdAt) : undefined

/** The role, the parts and the model of a message (README, rule 14). */
const contentOf = (
  { id, json }: StoreMessage,
  calls: ToolCalls,
): Pick<SessionMessage, 'role' | 'parts' | 'model'> | undefined => {
  switch (json['role']) {
    case 'user':
      if (addedTo(json)['isSummary'] === true)
        return { role: 'system', parts: blocksOf(json['content']).flatMap(({ text }) => textPart(text)) }
      return draftOfUser(json)
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

/**
 * The message of a blob; undefined if it has no parts, an unknown role, or is not complete yet. Its members keep the order that
 * they have always had, which is not that of `newMessage`.
 */
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
