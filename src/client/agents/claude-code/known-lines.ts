import { isObject, type Json } from '../support/json.ts'

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
