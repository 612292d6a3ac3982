import { lowerThreadPriority } from '../../base/threads.ts'
import { extractSummary } from './extract.ts'
import { buildPrompt } from './prompt.ts'
import type { Summary } from './provider.ts'
import { type Conversation, type StoredTurn, parseConversation } from './turns.ts'

lowerThreadPriority()

// The tasks of the thread that `session-parser.ts` starts, which calls them by name.

export const runExtract = (conversation: Conversation<StoredTurn>): Summary =>
  extractSummary(parseConversation(conversation))

export const runPrompt = ({ conversation, maxChars }: PromptTask): string =>
  buildPrompt(parseConversation(conversation), maxChars)

export type PromptTask = { readonly conversation: Conversation<StoredTurn>; readonly maxChars: number }
