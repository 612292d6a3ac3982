import type { Conversation, StoredTurn } from './turns.ts'

export type Summary = { readonly title?: string | undefined; readonly summary: string }

/**
 * Makes a summary of a session. Gets turns as they are stored; `session-parser.ts` parses them on another thread.
 * @throws Error whose message has neither content of the session nor secrets, because it is logged; then the job is tried again
 */
export type SummaryProvider = (conversation: Conversation<StoredTurn>, signal: AbortSignal) => Promise<Summary>
