import type { MessageClass } from '../trace/messages/message-class.ts'
import type { MessageRole } from '../../contract/message.ts'

/** A message of a session, as a summary needs it. */
export type Turn = {
  /** Its number among all messages of the session, from 1. */
  readonly place: number
  readonly role: MessageRole
  readonly class: MessageClass
  readonly text: string
  /** The normalised names of its tool calls. */
  readonly tools: readonly string[]
}

/** A turn as the database returns it: the text, or the joined bodies of the text parts, and the tools as JSON. */
export type StoredTurn = {
  readonly place: number
  readonly role: MessageRole
  readonly class: MessageClass
  readonly tools: string
  readonly text: string | null
  readonly parts: string | null
}

/** The turns at the beginning and the end of a session, and its prompts, in order. `messageCount` counts all messages of the session. */
export type Conversation<AnyTurn = Turn> = { readonly messageCount: number; readonly turns: readonly AnyTurn[] }

const textOf = ({ text, parts }: StoredTurn): string => {
  if (text !== null) return JSON.parse(text) as string
  const bodies = JSON.parse(`[${parts ?? ''}]`) as { content?: { text?: string } }[]
  return bodies.map(({ content }) => content?.text ?? '').join('\n')
}

const toTurn = (stored: StoredTurn): Turn => {
  const { place, role, class: kind, tools } = stored
  return { place, role, class: kind, text: textOf(stored), tools: JSON.parse(tools) as string[] }
}

export const parseConversation = ({ messageCount, turns }: Conversation<StoredTurn>): Conversation => ({
  messageCount,
  turns: turns.map(toTurn),
})
