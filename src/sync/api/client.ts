import type { TraceFields } from '../agents/agent.ts'
import { RequestFailed } from './errors.ts'
import { type HistoryClient, newHistoryClient } from './history.ts'
import { newHttp } from './http.ts'
import type { components } from './openapi.d.ts'
import { responseData, type SendRequest } from './response-data.ts'
import { realTiming, type RetryTiming, withRetry } from './retry.ts'

type Schemas = components['schemas']
type WithNamespace = { readonly namespaceId: string; readonly namespaceSlug: string }
type DeviceBody = Schemas['SessionCreate']
type TraceBody = Schemas['TraceUpsert']

export type NewSession = Schemas['NewSession'] & WithNamespace
export type CurrentSession = Schemas['CurrentSession'] & { readonly session: WithNamespace }
export type SignInReview = Schemas['SignInReview']
export type TraceSummary = Pick<
  Schemas['TraceDetail'],
  'externalId' | 'visibility' | 'namespace' | 'messageCount' | keyof TraceFields
>
export type UpsertCounts = {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  /** How many messages the trace has then. */
  readonly messageCount: number
}

/** The endpoints that the command line uses. Every method throws RequestFailed. */
export type ApiClient = {
  readonly newSession: (device: DeviceBody) => Promise<NewSession>
  /** With the position of a write also whether the service holds it; an older service does not say. */
  readonly session: (position?: string) => Promise<CurrentSession>
  /** That of the last write that was answered; undefined before, and where the service does not say. */
  readonly position: () => string | undefined
  readonly startSignIn: (request: Schemas['AuthStart']) => Promise<Schemas['AuthStarted']>
  /** Which account and user completing the sign-in would join; changes nothing. */
  readonly reviewSignIn: (codes: Schemas['AuthComplete']) => Promise<SignInReview>
  readonly completeSignIn: (codes: Schemas['AuthComplete']) => Promise<NewSession>
  readonly namespace: (slug: string) => Promise<Schemas['Namespace']>
  readonly trace: (externalId: string) => Promise<TraceSummary>
  readonly messages: HistoryClient['messages']
  /** The revision of a trace; undefined for one that is not there, or may not be read. */
  readonly traceRevision: (externalId: string) => Promise<number | undefined>
  /** With `unlessDeleted` no trace is made that was deleted: RequestFailed with status 410. */
  readonly putTrace: (externalId: string, fields: TraceBody, unlessDeleted?: boolean) => Promise<void>
  readonly patchTrace: (externalId: string, fields: TraceBody) => Promise<void>
  /** `messages` are up to 200 messages, each as JSON text. */
  readonly upsertMessages: (externalId: string, messages: readonly string[]) => Promise<UpsertCounts>
}

/** The header that names a write. */
const LOG_POSITION = 'x-log-position'

/** The client of one server; of a session with its token. */
export type NewApiClient = (server: string, token?: string) => ApiClient

/** The request body of a batch, from messages as JSON text. */
export const batchJson = (messages: readonly string[]): string => `{"messages":[${messages.join(',')}]}`

/** A user who has left all namespaces can store no traces. Throws RequestFailed with status 403 for a session of theirs. */
const requireNamespace = <Session extends Partial<WithNamespace>>(session: Session): Session & WithNamespace => {
  const { namespaceId, namespaceSlug } = session
  if (namespaceId === undefined || namespaceSlug === undefined)
    throw new RequestFailed('you are a member of no namespace', { status: 403 })
  return { ...session, namespaceId, namespaceSlug }
}

/**
 * The client of the API at `server`, a URL without trailing slash, authenticated with `token`. Temporary failures are
 * retried (`withRetry`).
 */
export const newApiClient = (server: string, token?: string, timing: RetryTiming = realTiming): ApiClient => {
  const http = newHttp(server, token)
  let position: string | undefined
  const noted =
    <Data>(send: SendRequest<Data>): SendRequest<Data> =>
    async () => {
      const answer = await send()
      position = answer.response.headers.get(LOG_POSITION) ?? position
      return answer
    }
  const call = <Data>(send: SendRequest<Data>): Promise<Data> =>
    withRetry(() => responseData(server, noted(send)), timing)
  const at = (externalId: string) => ({ params: { path: { externalId } } })
  return {
    newSession: async (body) => requireNamespace((await call(() => http.POST('/v1/session', { body }))).session),
    session: async (holds) => {
      const params = { query: holds === undefined ? {} : { holds } }
      const found = await call(() => http.GET('/v1/session', { params }))
      return { ...found, session: requireNamespace(found.session) }
    },
    position: () => position,
    startSignIn: (body) => call(() => http.POST('/v1/auth/start', { body })),
    reviewSignIn: (body) => call(() => http.POST('/v1/auth/review', { body })),
    completeSignIn: async (body) =>
      requireNamespace((await call(() => http.POST('/v1/auth/complete', { body }))).session),
    namespace: async (slug) =>
      (await call(() => http.GET('/v1/namespaces/{slug}', { params: { path: { slug } } }))).namespace,
    trace: async (externalId) => (await call(() => http.GET('/v1/traces/{externalId}', at(externalId)))).trace,
    messages: newHistoryClient(server, token, timing).messages,
    traceRevision: async (externalId) => {
      const body = { query: 'traces:get', args: { externalId } }
      const { value } = await call(() => http.POST('/v1/query', { body }))
      return (value as { revision: number } | null)?.revision
    },
    putTrace: async (externalId, body, unlessDeleted = false) => {
      const query = unlessDeleted ? { unlessDeleted: 'true' as const } : {}
      const params = { path: { externalId }, query }
      await call(() => http.PUT('/v1/traces/{externalId}', { params, body }))
    },
    patchTrace: async (externalId, body) =>
      void (await call(() => http.PATCH('/v1/traces/{externalId}', { ...at(externalId), body }))),
    upsertMessages: (externalId, messages) => {
      // Sent as the given text, because parsing and serializing again would round large numbers.
      const exact = { body: { messages: [] }, bodySerializer: () => batchJson(messages) }
      return call(() => http.POST('/v1/traces/{externalId}/messages/batch', { ...at(externalId), ...exact }))
    },
  }
}
