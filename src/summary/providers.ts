import type { SummaryProvider } from './provider.ts'
import type { SummarySettings } from './settings.ts'
import type { SessionParser } from './session-parser.ts'

/** Imported only if it is configured, because its SDK has more modules than all other code for summaries. */
const lazyOpenAiProvider = (settings: SummarySettings, thread: SessionParser): SummaryProvider => {
  const provider = import('./openai.ts').then(({ newOpenAiProvider }) => newOpenAiProvider(settings, thread))
  return async (conversation, signal) => (await provider)(conversation, signal)
}

/** The provider of the configuration; undefined if summaries are turned off. */
export const newSummaryProvider = (settings: SummarySettings, thread: SessionParser): SummaryProvider | undefined => {
  switch (settings.SUMMARY_PROVIDER) {
    case 'extract':
      return thread.extract
    case 'openai':
      return lazyOpenAiProvider(settings, thread)
    case 'none':
      return undefined
  }
}
