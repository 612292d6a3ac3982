import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.d.ts'
import { answered, type Asking } from './response-data.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { RequestFailed } from './errors.ts'
import { realWaiting, type Waiting, withRetry } from './retry.ts'

const patienceMs = 120_000

type Schemas = components['schemas']
type Placed = { readonly namespaceId: string; readonly namespaceSlug: string }
type DeviceBody = Schemas['SessionCreate']
type TraceBody = Schemas['TraceUpsert']

export type NewSession = Schemas['NewSession'] & Placed
export type CurrentSession = Schemas['CurrentSession'] & { readonly session: Placed }
export type SignInReview = Schemas['SignInReview']
export type FoundTrace = Pick<Schemas['TraceDetail'], 'visibility' | 'namespace'>
export type Upserted = { readonly created: number; readonly updated: number; readonly unchanged: number }

/** What the command line needs of the service. Every method throws RequestFailed. */
export type Api = {
  readonly newSession: (device: DeviceBody) => Promise<NewSession>
  readonly session: () => Promise<CurrentSession>
  readonly startSignIn: (wish: Schemas['AuthStart']) => Promise<Schemas['AuthStarted']>
  /** What completing would join. */
  readonly reviewSignIn: (codes: Schemas['AuthComplete']) => Promise<SignInReview>
  readonly completeSignIn: (codes: Schemas['AuthComplete']) => Promise<NewSession>
  readonly namespace: (slug: string) => Promise<Schemas['Namespace']>
  readonly trace: (externalId: string) => Promise<FoundTrace>
  readonly putTrace: (externalId: string, fields: TraceBody) => Promise<void>
  readonly patchTrace: (externalId: string, fields: TraceBody) => Promise<void>
  /** `messages`: JSON texts, at most 200, as they go into the body. */
  readonly upsertMessages: (externalId: string, messages: readonly string[]) => Promise<Upserted>
}

/** What a batch's body needs around its messages, in bytes. */
export const batchBody = (messages: readonly string[]): string => `{"messages":[${messages.join(',')}]}`

/** A user can lose the last namespace; then there is no place for traces. */
const placed = <Session extends Partial<Placed>>(session: Session): Session & Placed => {
  const { namespaceId, namespaceSlug } = session
  if (namespaceId === undefined || namespaceSlug === undefined)
    throw new RequestFailed('you are a member of no namespace', { status: 403 })
  return { ...session, namespaceId, namespaceSlug }
}

const newHttp = (server: string, token: string | undefined) =>
  createClient<paths>({
    baseUrl: server,
    // A redirect is not followed: a token goes to the server that gave it and nowhere else.
    redirect: 'manual',
    headers: { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    fetch: (request) => boundedFetch(request, patienceMs),
  })

/** The service at `server` (an address without trailing slash) as the holder of `token` sees it. Failures that may pass are retried. */
export const newApi = (server: string, token?: string, waiting: Waiting = realWaiting): Api => {
  const http = newHttp(server, token)
  const call = <Data>(ask: Asking<Data>): Promise<Data> => withRetry(() => answered(server, ask), waiting)
  const at = (externalId: string) => ({ params: { path: { externalId } } })
  return {
    newSession: async (body) => placed((await call(() => http.POST('/v1/session', { body }))).session),
    session: async () => {
      const found = await call(() => http.GET('/v1/session'))
      return { ...found, session: placed(found.session) }
    },
    startSignIn: (body) => call(() => http.POST('/v1/auth/start', { body })),
    reviewSignIn: (body) => call(() => http.POST('/v1/auth/review', { body })),
    completeSignIn: async (body) => placed((await call(() => http.POST('/v1/auth/complete', { body }))).session),
    namespace: async (slug) =>
      (await call(() => http.GET('/v1/namespaces/{slug}', { params: { path: { slug } } }))).namespace,
    trace: async (externalId) => (await call(() => http.GET('/v1/traces/{externalId}', at(externalId)))).trace,
    putTrace: async (externalId, body) =>
      void (await call(() => http.PUT('/v1/traces/{externalId}', { ...at(externalId), body }))),
    patchTrace: async (externalId, body) =>
      void (await call(() => http.PATCH('/v1/traces/{externalId}', { ...at(externalId), body }))),
    upsertMessages: (externalId, messages) => {
      // The texts go as they are: parsed and written again, big numbers would be others.
      const exact = { body: { messages: [] }, bodySerializer: () => batchBody(messages) }
      return call(() => http.POST('/v1/traces/{externalId}/messages/batch', { ...at(externalId), ...exact }))
    },
  }
}
