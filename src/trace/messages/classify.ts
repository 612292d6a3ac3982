import type { MessageClass } from '../events.ts'
import type { MessageDocument } from './message.ts'
import { isBlank } from './part.ts'

/** The one class of a message: the first that fits. */
export const classOf = ({ role, textContent, parts }: MessageDocument): MessageClass => {
  if (role === 'system') return 'agent_context'
  if (role === 'user') {
    return parts.length > 0 && parts.every(({ type }) => type === 'tool_result') ? 'agent_context' : 'user_message'
  }
  if (parts.some(({ type }) => type === 'tool_call')) return 'tool_call'
  if (!isBlank(textContent) || parts.some(({ speaks }) => speaks)) return 'agent_text'
  return parts.some(({ type }) => type === 'thinking') ? 'agent_thinking' : 'agent_text'
}

/** The normalised name of each tool call of a message. */
export const toolsOf = ({ parts }: MessageDocument): string[] => parts.flatMap(({ tool }) => tool ?? [])
