import { type AnswerOf, type BodyFor, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

export type Namespace = AnswerOf<'GET /v1/namespaces/{slug}'>['namespace']
export type NamespaceInfo = AnswerOf<'GET /v1/namespaces'>['namespaces'][number]
export type Member = AnswerOf<'GET /v1/namespaces/{slug}/members'>['members'][number]
export type Role = Member['role']
export type Invite = AnswerOf<'GET /v1/namespaces/{slug}/invites'>['invites'][number]
export type PublicInvite = AnswerOf<'GET /v1/invites/{code}'>['invite']

/** Namespaces, their members and invites. Every method throws RequestFailed. */
export type NamespacesClient = {
  /** The namespaces of which the user is a member. */
  readonly namespaces: () => Promise<readonly NamespaceInfo[]>
  readonly create: (body: BodyFor<'POST /v1/namespaces'>) => Promise<NamespaceInfo>
  readonly update: (slug: string, body: BodyFor<'PATCH /v1/namespaces/{slug}'>) => Promise<Namespace>
  readonly members: (slug: string) => Promise<readonly Member[]>
  readonly changeRole: (slug: string, userId: string, role: Role) => Promise<Member>
  readonly removeMember: (slug: string, userId: string) => Promise<void>
  readonly invites: (slug: string) => Promise<readonly Invite[]>
  readonly createInvite: (slug: string, body: BodyFor<'POST /v1/namespaces/{slug}/invites'>) => Promise<Invite>
  readonly revokeInvite: (slug: string, code: string) => Promise<void>
  /** The namespace of an invite, for everybody with its code. */
  readonly invite: (code: string) => Promise<PublicInvite>
  readonly acceptInvite: (code: string) => Promise<NamespaceInfo>
}

/** The client of the namespaces at `server`, authenticated with `token`. Temporary failures are retried. */
export const newNamespacesClient = (
  server: string,
  token: string,
  timing: RetryTiming = realTiming,
): NamespacesClient => {
  const { call, once } = newRequests(server, token, { timing })
  return {
    namespaces: async () => (await call('GET /v1/namespaces')).namespaces,
    create: async (body) => (await once('POST /v1/namespaces', { body })).namespace,
    update: async (slug, body) => (await call('PATCH /v1/namespaces/{slug}', { path: { slug }, body })).namespace,
    members: async (slug) => (await call('GET /v1/namespaces/{slug}/members', { path: { slug } })).members,
    changeRole: async (slug, userId, role) =>
      (await call('PATCH /v1/namespaces/{slug}/members/{userId}', { path: { slug, userId }, body: { role } })).member,
    removeMember: async (slug, userId) =>
      void (await call('DELETE /v1/namespaces/{slug}/members/{userId}', { path: { slug, userId } })),
    invites: async (slug) => (await call('GET /v1/namespaces/{slug}/invites', { path: { slug } })).invites,
    createInvite: async (slug, body) =>
      (await once('POST /v1/namespaces/{slug}/invites', { path: { slug }, body })).invite,
    revokeInvite: async (slug, code) =>
      void (await call('DELETE /v1/namespaces/{slug}/invites/{code}', { path: { slug, code } })),
    invite: async (code) => (await call('GET /v1/invites/{code}', { path: { code } })).invite,
    acceptInvite: async (code) => (await call('POST /v1/invites/{code}/accept', { path: { code } })).namespace,
  }
}
