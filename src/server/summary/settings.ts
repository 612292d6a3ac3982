import { z } from 'zod'
import { wholeNumber } from '../../base/whole-number.ts'

const number = (fallback: number, min: number, max: number) => wholeNumber(min, max).default(fallback)

const isHttp = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The environment variables of summaries. */
export const summarySettings = {
  SUMMARY_PROVIDER: z.enum(['extract', 'openai', 'none']).default('extract'),
  /** How many new messages make the next summary due. */
  SUMMARY_THRESHOLD: number(20, 1, 1_000_000),
  SUMMARY_DEBOUNCE_MS: number(30_000, 0, 86_400_000),
  SUMMARY_BASE_URL: z
    .string()
    .refine(isHttp, { error: 'must be a URL that starts with http:// or https://' })
    .default('https://api.openai.com/v1'),
  SUMMARY_MODEL: z.string().min(1).optional(),
  SUMMARY_API_KEY: z.string().min(1).optional(),
  /** How many summaries a worker makes at the same time. */
  SUMMARY_CONCURRENCY: number(2, 1, 64),
  /** How often a summary is tried before it waits for new messages of the trace. */
  SUMMARY_ATTEMPTS: number(5, 1, 20),
  /** The time for an answer of the endpoint, including retries. */
  SUMMARY_TIMEOUT_MS: number(60_000, 1, 600_000),
  /** How many characters of a session are sent to the endpoint. */
  SUMMARY_PROMPT_CHARS: number(24_000, 1_000, 2_000_000),
}

const _Settings = z.object(summarySettings)
export type SummarySettings = z.infer<typeof _Settings>

type Issues = { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void }

/** Checks that a model is set for the provider `openai`, because there is no model that all endpoints have. */
export const checkSummaries = (settings: SummarySettings, { addIssue }: Issues): void => {
  if (settings.SUMMARY_PROVIDER === 'openai' && settings.SUMMARY_MODEL === undefined)
    addIssue({ code: 'custom', path: ['SUMMARY_MODEL'], message: 'is needed if SUMMARY_PROVIDER is openai' })
}
