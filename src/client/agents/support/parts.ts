import type { Usage } from '../../../contract/usage.ts'
import type { Part, SessionMessage } from '../agent.ts'
import { isExternalId } from './external-ids.ts'
import { isObject, type Json, objectOf, objectsIn, parseObject, textOf } from './json.ts'
import { mediaPlaceholder, withoutBinary } from './media.ts'
import type { Call, ToolCalls } from './tool-calls.ts'

/** What a message says, before it has an id and a place in its session. */
export type Draft = Pick<SessionMessage, 'role' | 'parts'>

/** A message, of which `model`, `timestamp` and `usage` may be unknown. */
type MessageFields<Parts> = {
  readonly externalId: string
  readonly role: SessionMessage['role']
  readonly model?: string | undefined
  readonly order: number
  readonly timestamp?: number | undefined
  readonly usage?: Usage | undefined
  readonly parts: Parts
}

/**
 * Makes a message without the fields that are undefined. The order of its members is that of the JSON text which is sent, and a
 * digest of that text shows later whether the message has changed: another order would send every message again.
 */
export const newMessage = <Parts extends readonly Part[]>({
  externalId,
  role,
  model,
  order,
  timestamp,
  usage,
  parts,
}: MessageFields<Parts>): Omit<SessionMessage, 'parts'> & { readonly parts: Parts } => ({
  externalId,
  role,
  ...(model === undefined ? {} : { model }),
  order,
  ...(timestamp === undefined ? {} : { timestamp }),
  ...(usage === undefined ? {} : { usage }),
  parts,
})

/** The content blocks of a message in the form of Anthropic's API. A string is one text block; anything but objects is left out. */
export const blocksOf = (content: unknown): readonly Json[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return objectsIn(content)
}

export const isMedia = (block: Json): boolean => block['type'] === 'image' || block['type'] === 'document'

/** The text that replaces an image or a document. */
export const placeholder = (block: Json): string => {
  const source = objectOf(block['source'])
  return mediaPlaceholder(block['type'], textOf(source['media_type']), textOf(source['data'])?.length)
}

/** A text part; no part if `value` is not a string, or blank. */
export const textPart = (value: unknown): readonly Part[] => {
  const text = textOf(value)
  return text === undefined ? [] : [{ type: 'text', content: { text } }]
}

/** A thinking part; no part if `value` is not a string, or blank. */
export const thinkingPart = (value: unknown, durationMs?: number): readonly Part[] => {
  const text = textOf(value)
  if (text === undefined) return []
  return [{ type: 'thinking', content: { text, ...(durationMs === undefined ? {} : { durationMs }) } }]
}

export const errorPart = (message: string): Part => ({ type: 'error', content: { message } })

/** The arguments of a call: an object as it is, an empty object for null or undefined, any other value as `input`. */
export const argsOf = (input: unknown): Json => {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}

/** The arguments of a call that may also be stored as the text of a JSON object. Blank text means no arguments. */
export const argsOfJson = (input: unknown): Json => {
  if (typeof input !== 'string') return argsOf(input)
  return input.trim() === '' ? {} : (parseObject(input) ?? { input })
}

/** The arguments of a call, with placeholders instead of binary content. */
export const argsWithoutBinary = (input: unknown): Json => objectOf(withoutBinary(argsOf(input)))

/** What an agent stores of a call. A missing name becomes `unknown`, a missing or unusable id the `fallbackId`. */
type StoredCall = { readonly id: unknown; readonly name: unknown; readonly args: Json; readonly fallbackId: string }

const nameOf = (name: unknown): string => textOf(name) ?? 'unknown'

/** The part of a call whose result comes later, and finds the call in `calls`. */
export const callPart = (calls: ToolCalls, { id, name, args, fallbackId }: StoredCall): Part => ({
  type: 'tool_call',
  content: { ...calls.add(id, nameOf(name), fallbackId), args },
})

export const resultPart = ({ callId, toolName }: Call, output: string, hasFailed: boolean): Part => ({
  type: 'tool_result',
  content: { callId, toolName, output, status: hasFailed ? 'error' : 'success' },
})

/** The parts of a call with which its agent stores the result: the call alone while `result` is undefined. */
export const callWithResult = (
  { id, name, args, fallbackId }: StoredCall,
  result: { readonly output: string; readonly hasFailed: boolean } | undefined,
): readonly Part[] => {
  const call = { callId: isExternalId(id) ? id : fallbackId, toolName: nameOf(name) }
  const part: Part = { type: 'tool_call', content: { ...call, args } }
  return result ? [part, resultPart(call, result.output, result.hasFailed)] : [part]
}

/** A tool's output as text: a string as it is, any other value as JSON, both without binary content. Empty for null or undefined. */
export const outputOfValue = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  const clean = withoutBinary(value)
  return typeof clean === 'string' ? clean : JSON.stringify(clean)
}

/** A tool's output that is text or content blocks; `otherwise` gives the text of a block that is neither text nor media. */
export const outputOfBlocks = (content: unknown, otherwise: (block: Json) => string): string =>
  blocksOf(content)
    .map((block) => {
      if (typeof block['text'] === 'string') return block['text']
      return isMedia(block) ? placeholder(block) : otherwise(block)
    })
    .join('\n')
