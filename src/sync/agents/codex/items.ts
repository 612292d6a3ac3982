import type { Part, SessionMessage } from '../agent.ts'
import { blocksOf } from '../support/content-blocks.ts'
import { isExternalId } from '../support/external-ids.ts'
import type { Json } from '../support/json.ts'
import { textPart, thinkingPart } from '../support/parts.ts'
import type { ToolCalls } from '../support/tool-calls.ts'
import { callPart, resultPart, servedCallPart } from './calls.ts'
import { type AgentSessions, agentMessageParts } from './agents.ts'
import { blockText } from './content.ts'
import { typedTexts, type UserText } from './injected.ts'

type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** The type of a response item (README, rule 2). */
const typeOf = ({ type, role, content }: Json): unknown =>
  type === undefined && role !== undefined && content !== undefined ? 'message' : type

/** The id that an item has of its own (README, rule 10). */
export const ownIdOf = (payload: Json): unknown => {
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
  const kept = role === 'user' ? typedTexts(texts) : texts.map(({ text }) => text)
  return { role, parts: kept.flatMap(textPart) }
}

const summaryOf = ({ summary }: Json): string =>
  blocksOf(summary)
    .flatMap(({ text }) => textPart(text).flatMap((part) => (part.type === 'text' ? part.content.text : [])))
    .join('\n\n')

const assistant = (...parts: readonly Part[]): Draft => ({ role: 'assistant', parts })

/** What an item needs of the lines before it, and of some after it. */
export type Context = {
  readonly calls: ToolCalls
  /** Whether an event says that a call failed. */
  readonly isFailed: (callId: string) => boolean
  readonly agents: AgentSessions
}

/**
 * The role and the parts of a response item; undefined for one that is no message. `messageId` is only asked of one that
 * certainly is.
 */
export const itemDraft = (payload: Json, context: Context, messageId: () => string): Draft | undefined => {
  const { calls, agents } = context
  switch (typeOf(payload)) {
    case 'message':
      return message(payload)
    case 'reasoning':
      return assistant(...thinkingPart(summaryOf(payload)))
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return assistant(callPart(payload, calls, messageId()))
    case 'web_search_call':
    case 'image_generation_call':
      return assistant(servedCallPart(payload, messageId()))
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'user', parts: [resultPart(payload, context)] }
    case 'agent_message':
      return { role: 'system', parts: agentMessageParts(payload, agents) }
    default:
      return undefined
  }
}
