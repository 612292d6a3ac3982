import type { SessionFields } from '../agents/agent.ts'
import { RequestFailed } from './errors.ts'
import { newHistoryClient } from './history.ts'
import { type AnswerOf, type BodyFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

type WithNamespace = { readonly namespaceId: string; readonly namespaceSlug: string }
type TraceBody = BodyFor<'PUT /v1/traces/{externalId}'>

export type NewSession = AnswerOf<'POST /v1/session'>['session'] & WithNamespace
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
  /** That of the trace afterwards. */
  readonly revision: number
}

/** The revision that a trace must have for a write to it; undefined for any. */
type Revision = number | undefined
const textOf = (revision: Revision): string | undefined => (revision === undefined ? undefined : `${revision}`)

/** The response header with the position of a write. */
const LOG_POSITION = 'x-log-position'

const [START, COMMA, END] = ['{"messages":[', ',', ']}'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

/**
 * The request body of a batch, from messages as JSON text in UTF-8. Bytes are outside of the heap, where the garbage collector does
 * not move them, and are sent as they are.
 */
export const batchJson = (messages: readonly Buffer[]): Buffer =>
  Buffer.concat([START, ...messages.flatMap((message, i) => (i === 0 ? [message] : [COMMA, message])), END])

/** The user is not a member of any namespace. */
export class NoNamespace extends RequestFailed {
  constructor(message: string) {
    super(message, { status: 403 })
  }
}

/** A user who has left all namespaces cannot store traces. Throws NoNamespace for a session without a namespace. */
const requireNamespace = <Session extends Partial<WithNamespace>>(session: Session): Session & WithNamespace => {
  const { namespaceId, namespaceSlug } = session
  if (namespaceId === undefined || namespaceSlug === undefined)
    throw new NoNamespace('you are not a member of any namespace: create one, or accept an invite')
  return { ...session, namespaceId, namespaceSlug }
}

/**
 * The endpoints of `server`, a URL without trailing slash, that uploads and logins use, authenticated with `token`. Temporary failures are
 * retried (`withRetry`). Every method throws RequestFailed.
 */
export const newApiClient = (server: string, token?: string, timing: RetryTiming = realTiming) => {
  let position: string | undefined
  const onAnswer = (headers: Headers) => {
    position = headers.get(LOG_POSITION) ?? position
  }
  const { call } = newRequests(server, token, { timing, onAnswer })
  return {
    /** Which service it is; needs no session. */
    service: () => call('GET /v1/service'),
    newSession: async (body: BodyFor<'POST /v1/session'>): Promise<NewSession> =>
      requireNamespace((await call('POST /v1/session', { body })).session),
    /** With the position of a write also whether the service still has it. */
    session: async (holds?: string) => {
      const found = await call('GET /v1/session', { query: { holds } })
      return { ...found, session: requireNamespace(found.session) }
    },
    /** The position of the last write that was answered; undefined before any, and if the service does not say. */
    position: () => position,
    startSignIn: (body: BodyFor<'POST /v1/auth/start'>) => call('POST /v1/auth/start', { body }),
    /** The account and the user that completing the sign-in would join. Changes nothing. */
    reviewSignIn: (body: BodyFor<'POST /v1/auth/review'>) => call('POST /v1/auth/review', { body }),
    completeSignIn: async (body: BodyFor<'POST /v1/auth/complete'>): Promise<NewSession> =>
      requireNamespace((await call('POST /v1/auth/complete', { body })).session),
    /** The namespaces of which the user is a member. */
    namespaces: async () => (await call('GET /v1/namespaces')).namespaces,
    namespace: async (slug: string) => (await call('GET /v1/namespaces/{slug}', { path: { slug } })).namespace,
    /** `namespace` is the slug of the trace's namespace, for where several have a trace with this id. */
    trace: async (externalId: string, namespace?: string) =>
      (await call('GET /v1/traces/{externalId}', { path: { externalId }, query: { namespace } })).trace,
    messages: newHistoryClient(server, token, timing).messages,
    /** The revision of a trace; undefined if there is no such trace, or it may not be read. */
    traceRevision: async (externalId: string) => {
      const { value } = await call('POST /v1/query', { body: { query: 'traces:get', args: { externalId } } })
      return (value as { revision: number } | null)?.revision
    },
    /**
     * With `unlessDeleted` a deleted trace is not created again: RequestFailed with status 410. This and the next two write only in the namespace of
     * that slug, whatever the session is active in, and only to a trace at the revision `ifRevision`, 0 for one that does not exist: else
     * RequestFailed with status 404, or with the code `changed`.
     */
    putTrace: (
      namespace: string,
      externalId: string,
      body: TraceBody,
      { unlessDeleted = false, ifRevision }: { readonly unlessDeleted?: boolean; readonly ifRevision?: Revision } = {},
    ): Promise<{ readonly trace: TraceSummary; readonly revision: number }> =>
      call('PUT /v1/traces/{externalId}', {
        path: { externalId },
        query: { namespace, unlessDeleted: unlessDeleted || undefined, ifRevision: textOf(ifRevision) },
        body,
      }),
    patchTrace: (
      namespace: string,
      externalId: string,
      body: TraceBody,
      ifRevision?: Revision,
    ): Promise<{ readonly trace: TraceSummary; readonly revision: number }> =>
      call('PATCH /v1/traces/{externalId}', {
        path: { externalId },
        query: { namespace, ifRevision: textOf(ifRevision) },
        body,
      }),
    /**
     * `messages` are up to 200 messages, each as JSON text in UTF-8: parsing and serializing it again would round large numbers.
     */
    upsertMessages: (
      namespace: string,
      externalId: string,
      messages: readonly Buffer[],
      ifRevision?: Revision,
    ): Promise<UpsertCounts> =>
      call('POST /v1/traces/{externalId}/messages/batch', {
        path: { externalId },
        query: { namespace, ifRevision: textOf(ifRevision) },
        json: batchJson(messages),
      }),
    /** Erases the past of a trace: everything before its present state. `namespace` is the slug of its namespace. */
    eraseHistory: async (externalId: string, namespace?: string): Promise<number> =>
      (await call('POST /v1/traces/{externalId}/history/erase', { path: { externalId }, query: { namespace } })).erased,
  }
}
export type ApiClient = ReturnType<typeof newApiClient>

/** Makes the client of a server, for a session where there is a token. */
export type NewApiClient = (server: string, token?: string) => ApiClient
