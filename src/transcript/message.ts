import { rawItemsInSteps, rawMembersInSteps } from '../base/json/raw-values.ts'
import { readString } from '../base/json/read-string.ts'
import type { Steps } from '../base/json/steps.ts'
import type { Usage } from '../contract/usage.ts'
import { outputSteps } from './screen.ts'

/** The parts of a message as a transcript shows them. `args` is JSON text, exactly as it is stored. */
export type Call = {
  readonly type: 'tool_call'
  readonly callId: string
  readonly toolName: string
  readonly args: string
}
export type Result = {
  readonly type: 'tool_result'
  readonly callId: string
  readonly toolName: string
  readonly output: string
  readonly failed: boolean
  /** The message that it came in, and its index among the parts of that. */
  readonly messageId: string
  readonly index: number
}
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly durationMs: number | undefined }
  | Call
  | Result
  | { readonly type: 'error'; readonly message: string }

export type Role = 'user' | 'assistant' | 'system'

export type Message = {
  readonly externalId: string
  readonly role: Role
  readonly textContent: string | undefined
  readonly model: string | undefined
  /** Milliseconds since 1970. Any number, as the client sent it. */
  readonly timestamp: number | undefined
  readonly usage: Usage | undefined
  readonly parts: readonly Part[]
}

type Members = ReadonlyMap<string, string>

function* membersOf(json: string): Steps<Members> {
  const members = new Map<string, string>()
  for (const member of rawMembersInSteps(json)) {
    if (member) members.set(member.key, member.value)
    else yield
  }
  return members
}

function* textOf(members: Members, key: string): Steps<string> {
  const json = members.get(key)
  return json?.startsWith('"') ? yield* readString(json) : ''
}

const numberOf = (members: Members, key: string): number | undefined => {
  const value: unknown = JSON.parse(members.get(key) ?? 'null')
  return typeof value === 'number' ? value : undefined
}

function* optionalTextOf(members: Members, key: string): Steps<string | undefined> {
  return members.has(key) ? yield* textOf(members, key) : undefined
}

/** Undefined for an unknown type. */
function* readPart(json: string, messageId: string, index: number): Steps<Part | undefined> {
  const part = yield* membersOf(json)
  const content = yield* membersOf(part.get('content') ?? '')
  const text = (key: string) => textOf(content, key)
  const type = yield* textOf(part, 'type')
  switch (type) {
    case 'text':
      return { type, text: yield* text('text') }
    case 'thinking':
      return { type, text: yield* text('text'), durationMs: numberOf(content, 'durationMs') }
    case 'tool_call':
      return {
        type,
        callId: yield* text('callId'),
        toolName: yield* text('toolName'),
        args: content.get('args') ?? '{}',
      }
    case 'tool_result':
      return {
        type,
        callId: yield* text('callId'),
        toolName: yield* text('toolName'),
        output: yield* text('output'),
        failed: (yield* text('status')) === 'error',
        messageId,
        index,
      }
    case 'error':
      return { type, message: yield* text('message') }
    default:
      return undefined
  }
}

/** The same with the output of a tool as it is shown. */
function* readShown(json: string, messageId: string, index: number): Steps<Part | undefined> {
  const part = yield* readPart(json, messageId, index)
  return part?.type === 'tool_result' ? { ...part, output: yield* outputSteps(part) } : part
}

function* readParts(json: string, messageId: string): Steps<Part[]> {
  const parts: Part[] = []
  let index = 0
  for (const item of rawItemsInSteps(json)) {
    const part = item === undefined ? undefined : yield* readShown(item, messageId, index++)
    if (part) parts.push(part)
    yield
  }
  return parts
}

const usageOf = (members: Members): Usage | undefined => {
  const json = members.get('usage')
  return json === undefined ? undefined : (JSON.parse(json) as Usage)
}

/**
 * Reads a message with its parts, as in the API, from its JSON text; the outputs of tools as `screen.ts` shows them.
 * @throws SyntaxError for text that is not JSON
 */
export function* readMessage(json: string): Steps<Message> {
  const members = yield* membersOf(json)
  const role = yield* textOf(members, 'role')
  const externalId = yield* textOf(members, 'externalId')
  return {
    externalId,
    role: role === 'user' || role === 'system' ? role : 'assistant',
    textContent: yield* optionalTextOf(members, 'textContent'),
    model: yield* optionalTextOf(members, 'model'),
    timestamp: numberOf(members, 'timestamp'),
    usage: usageOf(members),
    parts: yield* readParts(members.get('parts') ?? '', externalId),
  }
}

const textIn = (part: Part): string => {
  switch (part.type) {
    case 'tool_call':
      return part.args
    case 'tool_result':
      return part.output
    case 'error':
      return part.message
    case 'text':
    case 'thinking':
      return part.text
  }
}

/** The text of one part of a message, as it is stored: what is said, written or answered, or the arguments of a call. Undefined if there is no such part. */
export function* textOfPart(json: string, index: number): Steps<string | undefined> {
  const members = yield* membersOf(json)
  let at = 0
  for (const item of rawItemsInSteps(members.get('parts') ?? '')) {
    if (item === undefined || at++ !== index) yield
    else {
      const part = yield* readPart(item, '', index)
      return part && textIn(part)
    }
  }
  return undefined
}
