import { type AnswerOf, type QueryFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** More than a page of messages, which has 8 MiB or one large message. A longer diff has to be asked for in parts. */
const MAX_HISTORY_BYTES = 64 << 20

type OfTrace = 'GET /v1/traces/{externalId}'

export type TimelinePage = AnswerOf<`${OfTrace}/events`>
export type TimelineEntry = TimelinePage['events'][number]
type TraceEventsQuery = QueryFor<`${OfTrace}/events`>
type NamespaceEventsQuery = QueryFor<'GET /v1/namespaces/{slug}/events'>
export type PastQuery = QueryFor<OfTrace>
export type PastTrace = Required<AnswerOf<OfTrace>>
export type PastMessages = AnswerOf<`${OfTrace}/messages`>
export type MessagesQuery = QueryFor<`${OfTrace}/messages`>
type DiffQuery = QueryFor<`${OfTrace}/diff`>
export type Diff = AnswerOf<`${OfTrace}/diff`>

/**
 * Timelines, traces at earlier revisions, and differences. Numbers that a double cannot represent are raw JSON. Every method throws
 * RequestFailed.
 */
export type HistoryClient = {
  readonly traceEvents: (externalId: string, query: TraceEventsQuery) => Promise<TimelinePage>
  readonly namespaceEvents: (slug: string, query: NamespaceEventsQuery) => Promise<TimelinePage>
  /** `query` names a revision or a time. */
  readonly trace: (externalId: string, query: PastQuery) => Promise<PastTrace>
  readonly messages: (externalId: string, query: MessagesQuery) => Promise<PastMessages>
  readonly diff: (externalId: string, query: DiffQuery) => Promise<Diff>
}

/**
 * The client of the history at `server`, authenticated with `token`. Without a token messages of public traces can be read.
 * Temporary failures are retried (`withRetry`).
 */
export const newHistoryClient = (
  server: string,
  token: string | undefined,
  timing: RetryTiming = realTiming,
): HistoryClient => {
  const { exactly } = newRequests(server, token, { timing, maxBytes: MAX_HISTORY_BYTES })
  return {
    traceEvents: (externalId, query) => exactly('GET /v1/traces/{externalId}/events', { path: { externalId }, query }),
    namespaceEvents: (slug, query) => exactly('GET /v1/namespaces/{slug}/events', { path: { slug }, query }),
    trace: async (externalId, query) =>
      (await exactly('GET /v1/traces/{externalId}', { path: { externalId }, query })) as PastTrace,
    messages: (externalId, query) => exactly('GET /v1/traces/{externalId}/messages', { path: { externalId }, query }),
    diff: (externalId, query) => exactly('GET /v1/traces/{externalId}/diff', { path: { externalId }, query }),
  }
}
