import type { MessageClass } from './message-class.ts'
import type { PartsHead, TextHead } from './heads.ts'
import type { MessageRole } from '../../../contract/message.ts'
import type { StoredPart } from './part.ts'

/** The data of a message by which its class is decided. */
type ClassInput = { readonly role: MessageRole; readonly text?: TextHead | undefined; readonly parts: PartsHead }

/** The class of a message: the first one that fits. */
export const classOf = ({ role, text, parts: { kinds } }: ClassInput): MessageClass => {
  if (role === 'system') return 'agent_context'
  if (role === 'user')
    return kinds.length > 0 && kinds.every((kind) => kind === 'tool_result') ? 'agent_context' : 'user_message'
  if (kinds.includes('tool_call')) return 'tool_call'
  if ((text && !text.isBlank) || kinds.includes('text')) return 'agent_text'
  return kinds.includes('thinking') ? 'agent_thinking' : 'agent_text'
}

/** The normalised name of each tool call among parts. */
export const toolsOf = (parts: readonly StoredPart[]): string[] => parts.flatMap(({ tool }) => tool ?? [])
