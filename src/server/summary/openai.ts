import OpenAI, { APIConnectionError, APIError, APIUserAbortError } from 'openai'
import { z } from 'zod'
import { MAX_TITLE } from './extract.ts'
import { instructions } from './prompt.ts'
import type { SummaryProvider, Summary } from './provider.ts'
import type { SummarySettings } from './settings.ts'
import { toOneLine, shorten } from './shorten.ts'
import { trimEndMatching } from '../../base/texts.ts'
import type { SessionParser } from './session-parser.ts'
import type { Conversation, StoredTurn } from './turns.ts'

const RETRIES = 2
const MAX_SUMMARY = 4_000

const Answer = z.object({ title: z.string().optional(), summary: z.string().trim().min(1) })

/** The JSON object in an answer, without what a model may put around it: reasoning, a code fence, a greeting. */
const parseAnswer = (text: string): Summary => {
  const answer = text.replace(/<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/g, '')
  try {
    const { title, summary } = Answer.parse(JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)))
    const line = trimEndMatching(toOneLine(title ?? '').replace(/^["'“]+/, ''), /["'”.]/)
    return { title: line === '' ? undefined : shorten(line, MAX_TITLE), summary: shorten(summary, MAX_SUMMARY) }
  } catch {
    throw new Error('the answer of the endpoint is not the JSON object that the prompt asks for')
  }
}

/** An error as a message without the API key and without content of the session. */
const describeError = (error: unknown, isLate: boolean): string => {
  if (isLate) return 'the endpoint did not answer in time'
  if (error instanceof APIUserAbortError) return 'the worker stops'
  if (error instanceof APIConnectionError) return 'the endpoint cannot be reached'
  if (error instanceof APIError && error.status !== undefined)
    return `the endpoint answered with status ${error.status}`
  return 'the answer of the endpoint is not a chat completion'
}

type Settings = Pick<
  SummarySettings,
  'SUMMARY_BASE_URL' | 'SUMMARY_MODEL' | 'SUMMARY_API_KEY' | 'SUMMARY_TIMEOUT_MS' | 'SUMMARY_PROMPT_CHARS'
>

/** Asks an OpenAI-compatible endpoint. Retries on 429, 5xx and lost connections, within the time limit. */
export const newOpenAiProvider = (settings: Settings, thread: Pick<SessionParser, 'buildPrompt'>): SummaryProvider => {
  const { SUMMARY_MODEL: model = '', SUMMARY_TIMEOUT_MS: timeout, SUMMARY_PROMPT_CHARS: maxChars } = settings
  const client = new OpenAI({
    baseURL: settings.SUMMARY_BASE_URL,
    apiKey: settings.SUMMARY_API_KEY ?? 'none', // local servers need no key, but the SDK does
    organization: null,
    project: null,
    timeout,
    maxRetries: RETRIES,
    logLevel: 'off',
  })

  const ask = async (conversation: Conversation<StoredTurn>, signal: AbortSignal): Promise<string> => {
    const content = await thread.buildPrompt(conversation, maxChars, signal)
    const late = AbortSignal.timeout(timeout)
    try {
      const completion = await client.chat.completions.create(
        {
          model,
          messages: [
            { role: 'system', content: instructions },
            { role: 'user', content },
          ],
        },
        { signal: AbortSignal.any([signal, late]) },
      )
      return completion.choices[0]!.message.content ?? ''
    } catch (error) {
      throw new Error(describeError(error, late.aborted))
    }
  }

  return async (conversation, signal) => parseAnswer(await ask(conversation, signal))
}
