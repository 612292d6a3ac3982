import { type AnswerOf, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

/** More than a page of traces, which has at most 8 MiB. */
const MAX_PAGE_BYTES = 12 << 20

type FeedTrace = AnswerOf<'GET /v1/feed'>['traces'][number]
type TraceSummary = AnswerOf<'GET /v1/traces'>['traces'][number]
/** A trace in a list. In the public feed it has its namespace and author, in the list of a namespace the user who created it. */
export type ListedTrace = Omit<FeedTrace, 'namespace'> &
  Partial<Pick<FeedTrace, 'namespace'> & Pick<TraceSummary, 'createdBy'>>
export type TraceDetail = AnswerOf<'GET /v1/traces/{externalId}'>['trace']

/** At most `limit` traces, from a cursor on. */
export type PageQuery = { readonly limit: number; readonly cursor?: string }
/** With `children` as `false` a list has no sub-agents whose parent the caller may read. */
export type ListQuery = PageQuery & { readonly children?: 'false' }
export type Sort = 'createdAt' | 'startedAt' | 'updatedAt'
export type TracePage = { readonly traces: readonly ListedTrace[]; readonly nextCursor?: string }

/**
 * Traces as their readers and owners use them, at `server`, with a session's `token` if there is one. Temporary failures are retried.
 * Every method throws RequestFailed.
 */
export const newTracesClient = (server: string, token: string | undefined, timing: RetryTiming = realTiming) => {
  const { call } = newRequests(server, token, { timing, maxBytes: MAX_PAGE_BYTES })
  const one = '/v1/traces/{externalId}'
  return {
    /** Traces of a namespace, newest first, by default by their creation: all for a member, otherwise the public ones. */
    list: (slug: string, query: ListQuery & { readonly sort?: Sort }): Promise<TracePage> =>
      call('GET /v1/namespaces/{slug}/traces', { path: { slug }, query }),
    /** Public traces of all users, and those of the session's namespace if there is a session; newest first. */
    feed: (query: ListQuery): Promise<TracePage> => call('GET /v1/feed', { query }),
    /** `namespace` is the slug of the trace's namespace, for where several have a trace with this id. */
    trace: async (externalId: string, namespace?: string) =>
      (await call(`GET ${one}`, { path: { externalId }, query: { namespace } })).trace,
    setVisibility: async (externalId: string, visibility: TraceDetail['visibility']) =>
      (await call(`PATCH ${one}`, { path: { externalId }, body: { visibility } })).trace,
    /** Moves it, with its sub-agents, to the namespace with this slug; gives it as it is there. */
    move: async (externalId: string, namespace: string) =>
      (await call(`POST ${one}/move`, { path: { externalId }, body: { namespace } })).trace,
    remove: async (externalId: string) => void (await call(`DELETE ${one}`, { path: { externalId } })),
    /** Erases the past of a trace: everything before its present state. Gives how many events that were. */
    eraseHistory: async (externalId: string) =>
      (await call(`POST ${one}/history/erase`, { path: { externalId } })).erased,
  }
}
export type TracesClient = ReturnType<typeof newTracesClient>
