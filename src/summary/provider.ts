import type { Conversation } from './conversation.ts'

export type Summary = { readonly title?: string | undefined; readonly summary: string }

/**
 * Makes a summary of a session. To plug in another one, write a function like this and name it in `providers.ts`.
 * @throws Error that holds nothing of the session and no secret: it is logged; the job is tried again
 */
export type Provider = (conversation: Conversation, signal: AbortSignal) => Promise<Summary>
