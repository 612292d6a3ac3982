import { type AnswerOf, type QueryFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** More than a page of messages, which has 8 MiB or one large message. A longer diff has to be asked for in parts. */
const MAX_HISTORY_BYTES = 64 << 20

type OfTrace = 'GET /v1/traces/{externalId}'

export type TimelinePage = AnswerOf<`${OfTrace}/events`>
export type TimelineEntry = TimelinePage['events'][number]
export type PastQuery = QueryFor<OfTrace>
export type PastTrace = Required<AnswerOf<OfTrace>>
export type PastMessages = AnswerOf<`${OfTrace}/messages`>
export type MessagesQuery = QueryFor<`${OfTrace}/messages`>
export type Diff = AnswerOf<`${OfTrace}/diff`>

/**
 * Timelines, traces at earlier revisions, and differences at `server`, with `token`. Without a token messages of public traces can be
 * read. Numbers that a double cannot represent are raw JSON. Temporary failures are retried (`withRetry`). Every method throws RequestFailed.
 */
export const newHistoryClient = (server: string, token: string | undefined, timing: RetryTiming = realTiming) => {
  const { exactly } = newRequests(server, token, { timing, maxBytes: MAX_HISTORY_BYTES })
  return {
    traceEvents: (externalId: string, query: QueryFor<`${OfTrace}/events`>) =>
      exactly('GET /v1/traces/{externalId}/events', { path: { externalId }, query }),
    namespaceEvents: (slug: string, query: QueryFor<'GET /v1/namespaces/{slug}/events'>) =>
      exactly('GET /v1/namespaces/{slug}/events', { path: { slug }, query }),
    /** `query` names a revision or a time. */
    trace: async (externalId: string, query: PastQuery) =>
      (await exactly('GET /v1/traces/{externalId}', { path: { externalId }, query })) as PastTrace,
    messages: (externalId: string, query: MessagesQuery) =>
      exactly('GET /v1/traces/{externalId}/messages', { path: { externalId }, query }),
    diff: (externalId: string, query: QueryFor<`${OfTrace}/diff`>) =>
      exactly('GET /v1/traces/{externalId}/diff', { path: { externalId }, query }),
  }
}
export type HistoryClient = ReturnType<typeof newHistoryClient>
