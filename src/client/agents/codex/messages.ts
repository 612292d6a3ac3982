import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from '../support/external-ids.ts'
import { draftOfSaid } from '../support/injected.ts'
import { isObject, type Json, millisecondsOf, objectOf, textOf } from '../support/json.ts'
import type { ObjectLine } from '../support/lines.ts'
import { blocksOf, type Draft, errorPart, newMessage, textPart, thinkingPart } from '../support/parts.ts'
import {
  agentMessageParts,
  blockText,
  type Context,
  isTask,
  itemCallPart,
  itemResultPart,
  servedCallPart,
} from './content.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'
import { saidByUser, type UserText } from './injected.ts'

/** The type of a response item (README, rule 2). */
const typeOf = ({ type, role, content }: Json): unknown =>
  type === undefined && role !== undefined && content !== undefined ? 'message' : type

/** The id that the agent has given an item (README, rule 10). */
const ownIdOf = (payload: Json): unknown => {
  const { id, call_id: callId } = payload
  if (isExternalId(id)) return id
  const end = /_call$/.test(String(payload['type'])) ? 'call' : 'out'
  return isExternalId(callId) ? `${callId}:${end}` : undefined
}

const textsOf = (payload: Json): readonly UserText[] =>
  blocksOf(payload['content']).flatMap((block) => {
    const text = blockText(block)
    return text === undefined ? [] : [{ text, isImage: block['type'] === 'input_image' }]
  })

const message = (payload: Json): Draft | undefined => {
  const { role } = payload
  if (role !== 'user' && role !== 'assistant') return undefined
  const texts = textsOf(payload)
  return role === 'user'
    ? draftOfSaid(saidByUser(texts))
    : { role, parts: texts.map(({ text }) => text).flatMap(textPart) }
}

const summaryOf = ({ summary }: Json): string =>
  blocksOf(summary)
    .flatMap(({ text }) => textPart(text).flatMap((part) => (part.type === 'text' ? part.content.text : [])))
    .join('\n\n')

const assistant = (...parts: readonly Part[]): Draft => ({ role: 'assistant', parts })

/** The draft of a response item; undefined for items that are no message. `messageId` is only called for those that are. */
const itemDraft = (payload: Json, context: Context, messageId: () => string): Draft | undefined => {
  const { calls, agents, agentPath } = context
  switch (typeOf(payload)) {
    case 'message':
      return message(payload)
    case 'reasoning':
      return assistant(...thinkingPart(summaryOf(payload)))
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return assistant(itemCallPart(payload, calls, messageId()))
    case 'web_search_call':
    case 'image_generation_call':
      return assistant(servedCallPart(payload, messageId()))
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [itemResultPart(payload, context)] }
    case 'agent_message':
      return { role: isTask(payload, agentPath) ? 'user' : 'system', parts: agentMessageParts(payload, agents) }
    default:
      return undefined
  }
}

/** What a line needs of the lines before it. `model` is that of the last `turn_context`. */
export type Reading = Context & {
  readonly messageId: (wanted: unknown, text: string) => string
  model: string | undefined
}

const LINE_TYPES = [
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
  'world_state',
  'token_usage_record',
]

export const isRolloutLine = ({ type, payload }: Json): boolean =>
  LINE_TYPES.includes(String(type)) && isObject(payload)

export const payloadOf = (json: Json): Json => objectOf(json['payload'])

/** Lines and items that hold nothing of the conversation (README, rule 8). */
const BESIDE_IT = [
  ...['token_usage_record', 'inter_agent_communication', 'inter_agent_communication_metadata'],
  ...['tool_search_call', 'tool_search_output', 'additional_tools', 'compaction', 'compaction_trigger'],
  ...['context_compaction', 'ghost_snapshot'],
]
const ITEMS = [
  ...[
    'message',
    'reasoning',
    'function_call',
    'custom_tool_call',
    'local_shell_call',
    'web_search_call',
    'agent_message',
  ],
  ...['image_generation_call', 'function_call_output', 'custom_tool_call_output'],
]
const BLOCKS = ['input_text', 'output_text', 'text', 'input_image', 'encrypted_content']

/** What a line holds that is left out, because its kind is not known (README, rule 15). Events are all known: they repeat what items say. */
export const unknownIn = (json: Json): readonly unknown[] => {
  const payload = payloadOf(json)
  const type = json['type'] === 'response_item' ? typeOf(payload) : json['type']
  if (json['type'] !== 'response_item') return [...LINE_TYPES, ...BESIDE_IT].includes(String(type)) ? [] : [type]
  if (type !== 'message' && type !== 'agent_message')
    return [...ITEMS, ...BESIDE_IT].includes(String(type)) ? [] : [type]
  return unknownBlocks(blocksOf(payload['content']), BLOCKS)
}

/** The text of an error that an event has, by itself or at the end of a turn; undefined for other events. */
const errorIn = ({ type, message, error }: Json): string | undefined => {
  if (type === 'error') return textOf(message) ?? 'Error'
  if (type !== 'task_complete' || error === undefined || error === null) return undefined
  return textOf(error) ?? textOf(objectOf(error)['message']) ?? 'Error'
}

/** An error that ends a turn is often the one that an event has told before: it is stored once (README, rule 6). */
const errorDraft = (payload: Json, context: Context): Draft | undefined => {
  if (payload['type'] === 'task_started') context.said.error = undefined
  const error = errorIn(payload)
  if (error === undefined || (payload['type'] === 'task_complete' && error === context.said.error)) return undefined
  context.said.error = error
  return { role: 'system', parts: [errorPart(error)] }
}

/** Whether an item is the summary with which the CLI goes on after a compaction, which is no answer (README, rule 7). */
export const isSummary = (json: Json): boolean => objectOf(json['metadata'])['compaction_output'] === true

const noteSummary = (json: Json, { said }: Context): void => {
  const texts = textsOf(payloadOf(json)).map(({ text }) => text)
  if (texts.length > 0) said.summary = texts.join('\n')
}

const compactionDraft = (payload: Json, { said }: Context): Draft => {
  const summary = textOf(payload['message']) ?? said.summary ?? 'Context compacted'
  said.summary = undefined
  return { role: 'system', parts: textPart(summary) }
}

/** The draft of a line's message; undefined for lines that are no message (README, rules 2 to 8). */
const draftOf = (json: Json, context: Context, messageId: () => string): Draft | undefined => {
  const payload = payloadOf(json)
  switch (json['type']) {
    case 'response_item':
      if (!isSummary(json)) return itemDraft(payload, context, messageId)
      noteSummary(json, context)
      return undefined
    case 'event_msg':
      return errorDraft(payload, context)
    case 'compacted':
      return compactionDraft(payload, context)
    default:
      return undefined
  }
}

/** The message of a line; undefined for lines that are no message. */
export const readLine = (reading: Reading, { json, text, number: order }: ObjectLine): SessionMessage | undefined => {
  const payload = payloadOf(json)
  const model = textOf(payload['model'])
  if (json['type'] === 'turn_context' && model) reading.model = model
  let id: string | undefined
  const messageId = () => (id ??= reading.messageId(ownIdOf(payload), text))
  const draft = draftOf(json, reading, messageId)
  if (!draft || draft.parts.length === 0) return undefined
  return newMessage({
    externalId: messageId(),
    ...draft,
    model: draft.role === 'assistant' ? reading.model : undefined,
    order,
    timestamp: millisecondsOf(json['timestamp']),
  })
}
