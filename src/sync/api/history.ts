import { type AnswerOf, type QueryFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** Above a page of messages, which is 8 MiB or one large message; a longer diff has to be asked for in parts. */
const MAX_HISTORY_BYTES = 64 << 20

type OfTrace = 'GET /v1/traces/{externalId}'

export type TimelinePage = AnswerOf<`${OfTrace}/events`>
export type TimelineEntry = TimelinePage['events'][number]
export type TraceEventsQuery = QueryFor<`${OfTrace}/events`>
export type NamespaceEventsQuery = QueryFor<'GET /v1/namespaces/{slug}/events'>
export type PastQuery = QueryFor<OfTrace>
export type PastTrace = Required<AnswerOf<OfTrace>>
export type PastMessages = AnswerOf<`${OfTrace}/messages`>
export type MessagesQuery = QueryFor<`${OfTrace}/messages`>
export type DiffQuery = QueryFor<`${OfTrace}/diff`>
export type Diff = AnswerOf<`${OfTrace}/diff`>

/** What was: timelines, the past and differences. Numbers that doubles cannot hold are raw JSON. Every method throws RequestFailed. */
export type HistoryClient = {
  readonly traceEvents: (externalId: string, query: TraceEventsQuery) => Promise<TimelinePage>
  readonly namespaceEvents: (slug: string, query: NamespaceEventsQuery) => Promise<TimelinePage>
  /** `query` names a revision or a time. */
  readonly trace: (externalId: string, query: PastQuery) => Promise<PastTrace>
  readonly messages: (externalId: string, query: MessagesQuery) => Promise<PastMessages>
  readonly diff: (externalId: string, query: DiffQuery) => Promise<Diff>
}

/** The client of the history at `server`, authenticated with `token`; without one messages of public traces can be read. Temporary failures are retried (`withRetry`). */
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
