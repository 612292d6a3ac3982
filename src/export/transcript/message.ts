import { rawItems, rawMembers } from '../../json/raw-values.ts'

/** The parts of a message as a transcript shows them; `args` is JSON text, exactly as it is stored. */
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
}
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly durationMs: number | undefined }
  | Call
  | Result
  | { readonly type: 'error'; readonly message: string }

export type Role = 'user' | 'assistant' | 'system'

export type Message = {
  readonly role: Role
  readonly textContent: string | undefined
  readonly model: string | undefined
  /** Milliseconds since 1970; any number, as the client gave it. */
  readonly timestamp: number | undefined
  readonly parts: readonly Part[]
}

type Members = ReadonlyMap<string, string>

const membersOf = (json: string): Members => new Map([...rawMembers(json)].map(({ key, value }) => [key, value]))

const valueOf = (members: Members, key: string): unknown => {
  const json = members.get(key)
  return json === undefined ? undefined : JSON.parse(json)
}

const textOf = (members: Members, key: string): string => {
  const value = valueOf(members, key)
  return typeof value === 'string' ? value : ''
}

const numberOf = (members: Members, key: string): number | undefined => {
  const value = valueOf(members, key)
  return typeof value === 'number' ? value : undefined
}

const optionalTextOf = (members: Members, key: string): string | undefined =>
  members.has(key) ? textOf(members, key) : undefined

/** Undefined for a type that this version does not know. */
const readPart = (json: string): Part | undefined => {
  const part = membersOf(json)
  const content = membersOf(part.get('content') ?? '')
  const named = () => ({ callId: textOf(content, 'callId'), toolName: textOf(content, 'toolName') })
  const type = textOf(part, 'type')
  switch (type) {
    case 'text':
      return { type, text: textOf(content, 'text') }
    case 'thinking':
      return { type, text: textOf(content, 'text'), durationMs: numberOf(content, 'durationMs') }
    case 'tool_call':
      return { type, ...named(), args: content.get('args') ?? '{}' }
    case 'tool_result':
      return { type, ...named(), output: textOf(content, 'output'), failed: textOf(content, 'status') === 'error' }
    case 'error':
      return { type, message: textOf(content, 'message') }
    default:
      return undefined
  }
}

/** Reads a message with its parts, as the API shows it, from its JSON text. @throws SyntaxError for text that is not JSON */
export const readMessage = (json: string): Message => {
  const members = membersOf(json)
  const role = textOf(members, 'role')
  return {
    role: role === 'user' || role === 'system' ? role : 'assistant',
    textContent: optionalTextOf(members, 'textContent'),
    model: optionalTextOf(members, 'model'),
    timestamp: numberOf(members, 'timestamp'),
    parts: [...rawItems(members.get('parts') ?? '')].map(readPart).filter((part) => part !== undefined),
  }
}
