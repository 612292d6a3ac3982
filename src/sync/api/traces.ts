import { newHttp } from './http.ts'
import type { components } from './openapi.d.ts'
import { responseData, type SendRequest } from './response-data.ts'
import { realTiming, type RetryTiming, withRetry } from './retry.ts'

type Schemas = components['schemas']

/** Above a page of traces, which is 8 MiB at most. */
const MAX_PAGE_BYTES = 12 << 20

/** A trace of a list; one of the public feed names its namespace and author, one of a namespace who has created it. */
export type ListedTrace = Omit<Schemas['FeedTrace'], 'namespace'> &
  Partial<Pick<Schemas['FeedTrace'], 'namespace'> & Pick<Schemas['TraceSummary'], 'createdBy'>>
export type TraceDetail = Schemas['TraceDetail']
export type Visibility = Schemas['Visibility']

/** At most so many traces, from a cursor on. */
export type PageQuery = { readonly limit: number; readonly cursor?: string }
export type Sort = 'createdAt' | 'startedAt' | 'updatedAt'
export type TracePage = { readonly traces: readonly ListedTrace[]; readonly nextCursor?: string }

/** Traces as their readers and owners use them. Every method throws RequestFailed. */
export type TracesClient = {
  /** Traces of a namespace, newest first, by their creation if `sort` does not say otherwise: all of them for a member, else the public ones. */
  readonly list: (slug: string, page: PageQuery & { readonly sort?: Sort }) => Promise<TracePage>
  /** Public traces of everybody, and those of the session's namespace if there is a session; newest first. */
  readonly feed: (page: PageQuery) => Promise<TracePage>
  /** `namespace`: the slug of the one that is meant, where several have the id. */
  readonly trace: (externalId: string, namespace?: string) => Promise<TraceDetail>
  readonly setVisibility: (externalId: string, visibility: Visibility) => Promise<TraceDetail>
  readonly remove: (externalId: string) => Promise<void>
}

/** The client of the traces at `server`, as the session of `token` if there is one. Temporary failures are retried. */
export const newTracesClient = (
  server: string,
  token: string | undefined,
  timing: RetryTiming = realTiming,
): TracesClient => {
  const http = newHttp(server, token, MAX_PAGE_BYTES)
  const call = <Data>(send: SendRequest<Data>): Promise<Data> => withRetry(() => responseData(server, send), timing)
  const at = (externalId: string, namespace?: string) => ({
    params: { path: { externalId }, query: namespace === undefined ? {} : { namespace } },
  })
  const [one, ofNamespace] = ['/v1/traces/{externalId}', '/v1/namespaces/{slug}/traces'] as const
  return {
    list: (slug, page) => call(() => http.GET(ofNamespace, { params: { path: { slug }, query: page } })),
    feed: (page) => call(() => http.GET('/v1/feed', { params: { query: page } })),
    trace: async (externalId, namespace) => (await call(() => http.GET(one, at(externalId, namespace)))).trace,
    setVisibility: async (externalId, visibility) =>
      (await call(() => http.PATCH(one, { params: { path: { externalId } }, body: { visibility } }))).trace,
    remove: async (externalId) => void (await call(() => http.DELETE(one, { params: { path: { externalId } } }))),
  }
}
