import type { Conversation, StoredTurn } from './turns.ts'

export type Summary = { readonly title?: string | undefined; readonly summary: string }

/**
 * Makes a summary of a session, which is read on a thread of its own (`thread.ts`). To plug in another one, write a function like this and name it in `providers.ts`.
 * @throws Error that holds nothing of the session and no secret: it is logged; the job is tried again
 */
export type Provider = (conversation: Conversation<StoredTurn>, signal: AbortSignal) => Promise<Summary>
