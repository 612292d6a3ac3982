import type { Conversation } from './conversation.ts'
import { extract } from './extract.ts'
import { openaiProvider } from './openai.ts'
import type { SummarySettings } from './settings.ts'

export type Summary = { readonly title?: string | undefined; readonly summary: string }

/**
 * Makes a summary of a session. To plug in another one, write a function like this and name it in `providerOf`.
 * @throws Error that holds nothing of the session and no secret: it is logged; the job is tried again
 */
export type Provider = (conversation: Conversation, signal: AbortSignal) => Promise<Summary>

/** The provider that the configuration asks for; undefined for none. */
export const providerOf = (settings: SummarySettings): Provider | undefined => {
  switch (settings.SUMMARY_PROVIDER) {
    case 'extract':
      return async (conversation) => extract(conversation)
    case 'openai':
      return openaiProvider(settings)
    case 'none':
      return undefined
  }
}
