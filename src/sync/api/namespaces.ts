import { newHttp } from './http.ts'
import type { components } from './openapi.d.ts'
import { responseData, type SendRequest } from './response-data.ts'
import { realTiming, type RetryTiming, withRetry } from './retry.ts'

type Schemas = components['schemas']

export type Namespace = Schemas['Namespace']
export type NamespaceInfo = Schemas['NamespaceInfo']
export type Member = Schemas['Member']
export type Role = Member['role']
export type Invite = Schemas['Invite']
export type PublicInvite = Schemas['PublicInvite']

/** Namespaces, their members and invites. Every method throws RequestFailed. */
export type NamespacesClient = {
  /** Those that the user is a member of. */
  readonly namespaces: () => Promise<readonly NamespaceInfo[]>
  readonly create: (body: Schemas['NamespaceCreate']) => Promise<NamespaceInfo>
  readonly update: (slug: string, body: Schemas['NamespaceUpdate']) => Promise<Namespace>
  readonly members: (slug: string) => Promise<readonly Member[]>
  readonly changeRole: (slug: string, userId: string, role: Role) => Promise<Member>
  readonly removeMember: (slug: string, userId: string) => Promise<void>
  readonly invites: (slug: string) => Promise<readonly Invite[]>
  readonly createInvite: (slug: string, body: Schemas['InviteCreate']) => Promise<Invite>
  readonly revokeInvite: (slug: string, code: string) => Promise<void>
  /** Where an invite leads to, for those who have its code. */
  readonly invite: (code: string) => Promise<PublicInvite>
  readonly acceptInvite: (code: string) => Promise<NamespaceInfo>
}

/** The client of the namespaces at `server`, authenticated with `token`. Temporary failures are retried. */
export const newNamespacesClient = (
  server: string,
  token: string,
  timing: RetryTiming = realTiming,
): NamespacesClient => {
  const http = newHttp(server, token)
  const call = <Data>(send: SendRequest<Data>): Promise<Data> => withRetry(() => responseData(server, send), timing)
  // What makes something new is not tried again: an answer that got lost may have made it.
  const once = <Data>(send: SendRequest<Data>): Promise<Data> => responseData(server, send)
  const of = (slug: string) => ({ params: { path: { slug } } })
  const [all, one, members] = ['/v1/namespaces', '/v1/namespaces/{slug}', '/v1/namespaces/{slug}/members'] as const
  const [member, invites] = ['/v1/namespaces/{slug}/members/{userId}', '/v1/namespaces/{slug}/invites'] as const
  return {
    namespaces: async () => (await call(() => http.GET(all))).namespaces,
    create: async (body) => (await once(() => http.POST(all, { body }))).namespace,
    update: async (slug, body) => (await call(() => http.PATCH(one, { ...of(slug), body }))).namespace,
    members: async (slug) => (await call(() => http.GET(members, of(slug)))).members,
    changeRole: async (slug, userId, role) =>
      (await call(() => http.PATCH(member, { params: { path: { slug, userId } }, body: { role } }))).member,
    removeMember: async (slug, userId) =>
      void (await call(() => http.DELETE(member, { params: { path: { slug, userId } } }))),
    invites: async (slug) => (await call(() => http.GET(invites, of(slug)))).invites,
    createInvite: async (slug, body) => (await once(() => http.POST(invites, { ...of(slug), body }))).invite,
    revokeInvite: async (slug, code) =>
      void (await call(() =>
        http.DELETE('/v1/namespaces/{slug}/invites/{code}', { params: { path: { slug, code } } }),
      )),
    invite: async (code) => (await call(() => http.GET('/v1/invites/{code}', { params: { path: { code } } }))).invite,
    acceptInvite: async (code) =>
      (await call(() => http.POST('/v1/invites/{code}/accept', { params: { path: { code } } }))).namespace,
  }
}
