import { isObject, type Json, objectOf, objectsIn } from '../support/json.ts'
import { unknownBlocks } from '../support/unknown-kinds.ts'
import { isResultOfServer } from './server-tools.ts'

/** Types of lines that hold one value of the session. */
const OF_SESSION = [
  'custom-title',
  'ai-title',
  'agent-name',
  'agent-setting',
  'mode',
  'permission-mode',
  'last-prompt',
  'bridge-session',
  'pr-link',
]

/** Types of lines that hold nothing of the conversation. */
const BESIDE_IT = [
  ...['attachment', 'progress', 'system', 'summary', 'queue-operation', 'file-history-snapshot', 'file-history-delta'],
  ...['api-request', 'api-request-blob', 'api-request-shape', 'atis-latch', 'cost-state', 'tools-used', 'frame-link'],
  ...['started', 'result', 'relocated', 'worktree-state', 'task-summary', 'tag', 'agent-color', 'content-replacement'],
  ...['attribution-snapshot', 'speculation-accept', 'marble-origami-commit', 'marble-origami-snapshot'],
]

/** Blocks of answers; `redacted_thinking` is encrypted, and never leaves. */
const BLOCKS_OF_ANSWERS = [
  ...['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use', 'mcp_tool_use', 'image', 'document'],
]
const BLOCKS_OF_USERS = ['text', 'tool_result', 'image', 'document']

/** A line of a sub-agent within the file of its session of which no call tells (README, rule 2). */
const INLINE = 'sub-agent-within-the-session'

/** What a line holds that is left out, because its kind is not known (README, rule 13). */
export const unknownIn = (json: Json, isSubAgent: boolean): readonly unknown[] => {
  const { type, isSidechain, message } = json
  if (isSidechain === true && !isSubAgent && (type === 'user' || type === 'assistant')) return [INLINE]
  const blocks = objectsIn(objectOf(message)['content'])
  if (type === 'user') return unknownBlocks(blocks, BLOCKS_OF_USERS)
  if (type === 'assistant')
    return unknownBlocks(blocks, BLOCKS_OF_ANSWERS).filter((kind) => !isResultOfServer(String(kind)))
  return BESIDE_IT.includes(String(type)) || OF_SESSION.includes(String(type)) ? [] : [type]
}

const isMessage = ({ message, uuid, sessionId, timestamp }: Json): boolean =>
  isObject(message) && 'content' in message && [uuid, sessionId, timestamp].some((value) => typeof value === 'string')

/** Whether a line has a type that the CLI writes, and the fields that go with it. */
export const isKnownLine = (json: Json): boolean => {
  const { type } = json
  switch (type) {
    case 'user':
    case 'assistant':
      return isMessage(json)
    case 'system':
      return typeof json['subtype'] === 'string'
    case 'attachment':
      return isObject(json['attachment'])
    case 'progress':
      return isObject(json['data'])
    case 'summary':
      return typeof json['leafUuid'] === 'string'
    case 'file-history-snapshot':
      return typeof json['messageId'] === 'string'
    case 'queue-operation':
      return typeof json['operation'] === 'string'
    default:
      return OF_SESSION.includes(String(type)) && typeof json['sessionId'] === 'string'
  }
}

/** Whether a file begins like one of the CLI's, also where the first line is longer than the beginning, as with a pasted image. */
export const beginsLikeLine = (text: string): boolean =>
  /^\s*\{"parentUuid":(?:null|"[^"]*"),"isSidechain":(?:true|false),[^\n]*"sessionId":"/.test(text)
