import type { MessageClass } from '../trace/events.ts'
import type { MessageRole } from '../contract/message.ts'

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

/** The same as it is stored: the text, or the joined bodies of the text parts, and the tools as JSON. */
export type StoredTurn = {
  readonly place: number
  readonly role: MessageRole
  readonly class: MessageClass
  readonly tools: string
  readonly text: string | null
  readonly parts: string | null
}

/** The beginning, the prompts and the end of a session, in order. */
export type Conversation<Of = Turn> = { readonly messageCount: number; readonly turns: readonly Of[] }

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
