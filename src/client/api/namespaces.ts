import { type AnswerOf, type BodyFor, type QueryFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

export type NamespaceInfo = AnswerOf<'GET /v1/namespaces'>['namespaces'][number]
export type Member = AnswerOf<'GET /v1/namespaces/{slug}/members'>['members'][number]
export type Role = Member['role']
export type UsageRow = AnswerOf<'GET /v1/namespaces/{slug}/usage'>['rows'][number]
export type Invite = AnswerOf<'GET /v1/namespaces/{slug}/invites'>['invites'][number]

/**
 * The namespaces at `server`, their members and invites, for the session with `token`. Temporary failures are retried. Every method
 * throws RequestFailed.
 */
export const newNamespacesClient = (server: string, token: string, timing: RetryTiming = realTiming) => {
  const { call, once } = newRequests(server, token, { timing })
  return {
    /** The namespaces of which the user is a member. */
    namespaces: async () => (await call('GET /v1/namespaces')).namespaces,
    create: async (body: BodyFor<'POST /v1/namespaces'>) => (await once('POST /v1/namespaces', { body })).namespace,
    update: async (slug: string, body: BodyFor<'PATCH /v1/namespaces/{slug}'>) =>
      (await call('PATCH /v1/namespaces/{slug}', { path: { slug }, body })).namespace,
    /** What the messages of a namespace have used and cost. */
    usage: async (slug: string, query: QueryFor<'GET /v1/namespaces/{slug}/usage'>) =>
      (await call('GET /v1/namespaces/{slug}/usage', { path: { slug }, query })).rows,
    members: async (slug: string) => (await call('GET /v1/namespaces/{slug}/members', { path: { slug } })).members,
    changeRole: async (slug: string, userId: string, role: Role) =>
      (await call('PATCH /v1/namespaces/{slug}/members/{userId}', { path: { slug, userId }, body: { role } })).member,
    removeMember: async (slug: string, userId: string) =>
      void (await call('DELETE /v1/namespaces/{slug}/members/{userId}', { path: { slug, userId } })),
    invites: async (slug: string) => (await call('GET /v1/namespaces/{slug}/invites', { path: { slug } })).invites,
    createInvite: async (slug: string, body: BodyFor<'POST /v1/namespaces/{slug}/invites'>) =>
      (await once('POST /v1/namespaces/{slug}/invites', { path: { slug }, body })).invite,
    revokeInvite: async (slug: string, code: string) =>
      void (await call('DELETE /v1/namespaces/{slug}/invites/{code}', { path: { slug, code } })),
    /** The namespace of an invite, for everybody with its code. */
    invite: async (code: string) => (await call('GET /v1/invites/{code}', { path: { code } })).invite,
    acceptInvite: async (code: string) => (await call('POST /v1/invites/{code}/accept', { path: { code } })).namespace,
  }
}
