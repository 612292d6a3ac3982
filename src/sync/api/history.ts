import { parseExact } from '../../json/exact.ts'
import { newHttp } from './http.ts'
import type { components, paths } from './openapi.d.ts'
import { type SendRequest, responseData } from './response-data.ts'
import { realTiming, type RetryTiming, withRetry } from './retry.ts'

/** Above a page of messages, which is 8 MiB or one large message; a longer diff has to be asked for in parts. */
const MAX_HISTORY_BYTES = 64 << 20

type OfTrace = '/v1/traces/{externalId}'
type Path = OfTrace | `${OfTrace}/${'events' | 'messages' | 'diff'}` | '/v1/namespaces/{slug}/events'
type Data<P extends Path> = paths[P]['get']['responses'][200]['content']['application/json']['data']
type Query<P extends Path> = NonNullable<paths[P]['get']['parameters']['query']>

export type TimelineEntry = components['schemas']['TimelineEntry']
export type TimelinePage = Data<`${OfTrace}/events`>
export type TraceEventsQuery = Query<`${OfTrace}/events`>
export type NamespaceEventsQuery = Query<'/v1/namespaces/{slug}/events'>
export type PastQuery = Query<OfTrace>
export type PastTrace = Required<Data<OfTrace>>
export type PastMessages = Data<`${OfTrace}/messages`>
export type MessagesQuery = Query<`${OfTrace}/messages`>
export type DiffQuery = Query<`${OfTrace}/diff`>
export type Diff = Data<`${OfTrace}/diff`>

/** What was: timelines, the past and differences. Numbers that doubles cannot hold are raw JSON. Every method throws RequestFailed. */
export type HistoryClient = {
  readonly traceEvents: (externalId: string, query: TraceEventsQuery) => Promise<TimelinePage>
  readonly namespaceEvents: (slug: string, query: NamespaceEventsQuery) => Promise<TimelinePage>
  /** `query` names a revision or a time. */
  readonly trace: (externalId: string, query: PastQuery) => Promise<PastTrace>
  readonly messages: (externalId: string, query: MessagesQuery) => Promise<PastMessages>
  readonly diff: (externalId: string, query: DiffQuery) => Promise<Diff>
}

type TextResponse = { readonly data?: string; readonly error?: unknown; readonly response: Response }

/** The answer to a request for text, as the exact JSON that it is. */
const exactly =
  <P extends Path>(_path: P, send: () => Promise<TextResponse>): SendRequest<Data<P>> =>
  async () => {
    const { data, ...rest } = await send()
    return data === undefined ? rest : { ...rest, data: parseExact(data) as { ok: true; data: Data<P> } }
  }

/** The client of the history at `server`, authenticated with `token`; without one messages of public traces can be read. Temporary failures are retried (`withRetry`). */
export const newHistoryClient = (
  server: string,
  token: string | undefined,
  timing: RetryTiming = realTiming,
): HistoryClient => {
  const http = newHttp(server, token, MAX_HISTORY_BYTES)
  const call = <Result>(send: SendRequest<Result>) => withRetry(() => responseData(server, send), timing)
  const text = { parseAs: 'text' } as const
  const [trace, events] = ['/v1/traces/{externalId}', '/v1/traces/{externalId}/events'] as const
  const [messages, diff] = ['/v1/traces/{externalId}/messages', '/v1/traces/{externalId}/diff'] as const
  const ofNamespace = '/v1/namespaces/{slug}/events'
  return {
    traceEvents: (externalId, query) =>
      call(exactly(events, () => http.GET(events, { params: { path: { externalId }, query }, ...text }))),
    namespaceEvents: (slug, query) =>
      call(exactly(ofNamespace, () => http.GET(ofNamespace, { params: { path: { slug }, query }, ...text }))),
    trace: async (externalId, query) =>
      (await call(
        exactly(trace, () => http.GET(trace, { params: { path: { externalId }, query }, ...text })),
      )) as PastTrace,
    messages: (externalId, query) =>
      call(exactly(messages, () => http.GET(messages, { params: { path: { externalId }, query }, ...text }))),
    diff: (externalId, query) =>
      call(exactly(diff, () => http.GET(diff, { params: { path: { externalId }, query }, ...text }))),
  }
}
