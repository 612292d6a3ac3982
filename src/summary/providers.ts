import { extract } from './extract.ts'
import { openaiProvider } from './openai.ts'
import type { Provider } from './provider.ts'
import type { SummarySettings } from './settings.ts'

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
