import type { SessionFields } from '../agents/agent.ts'
import { RequestFailed } from './errors.ts'
import { type HistoryClient, newHistoryClient } from './history.ts'
import { type AnswerOf, type BodyFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

type WithNamespace = { readonly namespaceId: string; readonly namespaceSlug: string }
type DeviceBody = BodyFor<'POST /v1/session'>
type TraceBody = BodyFor<'PUT /v1/traces/{externalId}'>

export type NewSession = AnswerOf<'POST /v1/session'>['session'] & WithNamespace
export type CurrentSession = AnswerOf<'GET /v1/session'> & { readonly session: WithNamespace }
export type SignInReview = AnswerOf<'POST /v1/auth/review'>
export type TraceSummary = Pick<
  AnswerOf<'GET /v1/traces/{externalId}'>['trace'],
  'externalId' | 'visibility' | 'namespace' | 'messageCount' | keyof SessionFields
>
export type UpsertCounts = {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  /** How many messages the trace has afterwards. */
  readonly messageCount: number
}

/** The endpoints that the command line uses. Every method throws RequestFailed. */
export type ApiClient = {
  readonly newSession: (device: DeviceBody) => Promise<NewSession>
  /** With the position of a write also whether the service still has it; an older service does not say. */
  readonly session: (position?: string) => Promise<CurrentSession>
  /** The position of the last write that was answered; undefined before any, and if the service does not say. */
  readonly position: () => string | undefined
  readonly startSignIn: (request: BodyFor<'POST /v1/auth/start'>) => Promise<AnswerOf<'POST /v1/auth/start'>>
  /** The account and the user that completing the sign-in would join. Changes nothing. */
  readonly reviewSignIn: (codes: BodyFor<'POST /v1/auth/complete'>) => Promise<SignInReview>
  readonly completeSignIn: (codes: BodyFor<'POST /v1/auth/complete'>) => Promise<NewSession>
  readonly namespace: (slug: string) => Promise<AnswerOf<'GET /v1/namespaces/{slug}'>['namespace']>
  readonly trace: (externalId: string) => Promise<TraceSummary>
  readonly messages: HistoryClient['messages']
  /** The revision of a trace; undefined if there is no such trace, or it may not be read. */
  readonly traceRevision: (externalId: string) => Promise<number | undefined>
  /** With `unlessDeleted` a deleted trace is not created again: RequestFailed with status 410. */
  readonly putTrace: (externalId: string, fields: TraceBody, unlessDeleted?: boolean) => Promise<void>
  /** Erases the past of a trace: everything before its present state. */
  readonly eraseHistory: (externalId: string) => Promise<void>
  readonly patchTrace: (externalId: string, fields: TraceBody) => Promise<void>
  /** `messages` are up to 200 messages, each as JSON text in UTF-8. */
  readonly upsertMessages: (externalId: string, messages: readonly Buffer[]) => Promise<UpsertCounts>
}

/** The response header with the position of a write. */
const LOG_POSITION = 'x-log-position'

/** Makes the client of a server, for a session where there is a token. */
export type NewApiClient = (server: string, token?: string) => ApiClient

const [START, COMMA, END] = ['{"messages":[', ',', ']}'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

/**
 * The request body of a batch, from messages as JSON text in UTF-8. Bytes are outside of the heap, where the garbage collector does
 * not move them, and are sent as they are.
 */
export const batchJson = (messages: readonly Buffer[]): Buffer =>
  Buffer.concat([START, ...messages.flatMap((message, i) => (i === 0 ? [message] : [COMMA, message])), END])

/** A user who has left all namespaces cannot store traces. Throws RequestFailed with status 403 for a session without a namespace. */
const requireNamespace = <Session extends Partial<WithNamespace>>(session: Session): Session & WithNamespace => {
  const { namespaceId, namespaceSlug } = session
  if (namespaceId === undefined || namespaceSlug === undefined)
    throw new RequestFailed('you are not a member of any namespace: create one, or accept an invite', { status: 403 })
  return { ...session, namespaceId, namespaceSlug }
}

/**
 * The client of the API at `server`, a URL without trailing slash, authenticated with `token`. Temporary failures are
 * retried (`withRetry`).
 */
export const newApiClient = (server: string, token?: string, timing: RetryTiming = realTiming): ApiClient => {
  let position: string | undefined
  const onAnswer = (headers: Headers) => {
    position = headers.get(LOG_POSITION) ?? position
  }
  const { call } = newRequests(server, token, { timing, onAnswer })
  return {
    newSession: async (body) => requireNamespace((await call('POST /v1/session', { body })).session),
    session: async (holds) => {
      const found = await call('GET /v1/session', { query: { holds } })
      return { ...found, session: requireNamespace(found.session) }
    },
    position: () => position,
    startSignIn: (body) => call('POST /v1/auth/start', { body }),
    reviewSignIn: (body) => call('POST /v1/auth/review', { body }),
    completeSignIn: async (body) => requireNamespace((await call('POST /v1/auth/complete', { body })).session),
    namespace: async (slug) => (await call('GET /v1/namespaces/{slug}', { path: { slug } })).namespace,
    trace: async (externalId) => (await call('GET /v1/traces/{externalId}', { path: { externalId } })).trace,
    messages: newHistoryClient(server, token, timing).messages,
    traceRevision: async (externalId) => {
      const { value } = await call('POST /v1/query', { body: { query: 'traces:get', args: { externalId } } })
      return (value as { revision: number } | null)?.revision
    },
    putTrace: async (externalId, body, unlessDeleted) =>
      void (await call('PUT /v1/traces/{externalId}', {
        path: { externalId },
        query: { unlessDeleted: unlessDeleted || undefined },
        body,
      })),
    eraseHistory: async (externalId) =>
      void (await call('POST /v1/traces/{externalId}/history/erase', { path: { externalId } })),
    patchTrace: async (externalId, body) =>
      void (await call('PATCH /v1/traces/{externalId}', { path: { externalId }, body })),
    // As text, because parsing and serializing it again would round large numbers.
    upsertMessages: (externalId, messages) =>
      call('POST /v1/traces/{externalId}/messages/batch', { path: { externalId }, json: batchJson(messages) }),
  }
}
