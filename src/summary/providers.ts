import type { Provider } from './provider.ts'
import type { SummarySettings } from './settings.ts'
import type { Thread } from './thread.ts'

/** Loaded only where it is asked for: its SDK has more modules than all else that makes summaries. */
const openai = (settings: SummarySettings, thread: Thread): Provider => {
  const provider = import('./openai.ts').then(({ openaiProvider }) => openaiProvider(settings, thread))
  return async (conversation, signal) => (await provider)(conversation, signal)
}

/** The provider that the configuration asks for; undefined for none. */
export const providerOf = (settings: SummarySettings, thread: Thread): Provider | undefined => {
  switch (settings.SUMMARY_PROVIDER) {
    case 'extract':
      return thread.extract
    case 'openai':
      return openai(settings, thread)
    case 'none':
      return undefined
  }
}
