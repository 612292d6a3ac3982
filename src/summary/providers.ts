import { openaiProvider } from './openai.ts'
import type { Provider } from './provider.ts'
import type { SummarySettings } from './settings.ts'
import type { Thread } from './thread.ts'

/** The provider that the configuration asks for; undefined for none. */
export const providerOf = (settings: SummarySettings, thread: Thread): Provider | undefined => {
  switch (settings.SUMMARY_PROVIDER) {
    case 'extract':
      return thread.extract
    case 'openai':
      return openaiProvider(settings, thread)
    case 'none':
      return undefined
  }
}
