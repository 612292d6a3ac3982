import '../low-priority.ts'
import { extract } from './extract.ts'
import { fitPrompt } from './prompt.ts'
import type { Summary } from './provider.ts'
import { type Conversation, type StoredTurn, parsed } from './turns.ts'

/** What runs on the thread of `thread.ts`, by these names. */
export const extracted = (conversation: Conversation<StoredTurn>): Summary => extract(parsed(conversation))

export const prompted = ({ conversation, maxChars }: PromptTask): string => fitPrompt(parsed(conversation), maxChars)

export type PromptTask = { readonly conversation: Conversation<StoredTurn>; readonly maxChars: number }
