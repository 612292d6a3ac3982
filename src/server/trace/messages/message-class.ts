import { z } from 'zod'

/** What a message is counted as. */
export const MessageClass = z.enum(['user_message', 'agent_context', 'agent_text', 'agent_thinking', 'tool_call'])
export type MessageClass = z.infer<typeof MessageClass>
