import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type InviteView, invites } from '../../contract/invites.ts'
import type { NamespaceInfo } from '../../contract/namespaces.ts'
import type { BodyOf } from '../../contract/route.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { pickDefined } from '../http/check.ts'
import { route } from '../http/route.ts'
import { verifiedEmailsOf } from '../user/queries.ts'
import { newInviteCode } from './invite-code.ts'
import { type Namespace, presentNamespace } from './decide.ts'
import { NO_INVITE, acceptInvite, createInvite, revokeInvite } from './decide-invites.ts'
import { inviteByCode, invitesOf } from './invite-queries.ts'
import { idOfSlug, namespaceOfAdmin } from './queries.ts'
import { toInviteView, toNamespaceInfo } from './views.ts'
import type { NamespaceServices } from './services.ts'

/** Routes to create, list and revoke the invites to a namespace, for its admins; and to read and accept one by its code. */
export const inviteRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  adminRoutes(app, service)
  codeRoutes(app, service)
}

/** A new code that no invite of any namespace has. */
const unusedCode = async (service: NamespaceServices): Promise<string> => {
  const code = newInviteCode()
  return (await inviteByCode(service.reads, code, service.now())) ? unusedCode(service) : code
}

type InviteTerms = BodyOf<(typeof invites)['POST /v1/namespaces/{slug}/invites']>

/** Makes an invite as the caller, who has to be an admin. @throws Rejected not_found, forbidden */
export const makeInvite = async (
  service: NamespaceServices,
  request: FastifyRequest,
  slug: string,
  given: InviteTerms,
): Promise<InviteView> => {
  const { namespaces, now, write } = service
  const id = idOfSlug(slug)
  const code = await unusedCode(service)
  const terms = { code, role: 'member' as const, ...pickDefined(given, ['role', 'email', 'maxUses']) }
  const decide = createInvite(requireCaller(request).userId, terms)
  const answer = (state: Namespace) => toInviteView(id, code, presentNamespace(state).invites.get(code)!, now())
  return write(namespaces, id, { decide, answer }, contextOf(request))
}

/** Revokes an invite as the caller, who has to be an admin. @throws Rejected not_found, forbidden */
export const revokeInviteOf = async (
  { namespaces, write }: NamespaceServices,
  request: FastifyRequest,
  { slug, code }: { readonly slug: string; readonly code: string },
): Promise<void> => {
  const decide = revokeInvite(requireCaller(request).userId, code)
  await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
}

const adminRoutes = (app: FastifyInstance, service: NamespaceServices) => {
  const { reads, now } = service

  route(app, invites, 'POST /v1/namespaces/{slug}/invites', async (request) => ({
    invite: await makeInvite(service, request, request.params.slug, request.body),
  }))

  route(app, invites, 'GET /v1/namespaces/{slug}/invites', async (request) => {
    const { id } = await namespaceOfAdmin(reads, idOfSlug(request.params.slug), requireCaller(request))
    return { invites: await invitesOf(reads, id, now()) }
  })

  route(app, invites, 'DELETE /v1/namespaces/{slug}/invites/{code}', async (request) => {
    await revokeInviteOf(service, request, request.params)
    return { revoked: true as const }
  })
}

const config = { limit: 'invite-look-up' } as const

const requireInvite = async ({ reads, now }: NamespaceServices, code: string) => {
  const invite = await inviteByCode(reads, code, now())
  if (!invite) throw new Rejected('not_found', NO_INVITE)
  return invite
}

/** Accepts an invite as the caller. @throws Rejected not_found, and the errors of `acceptInvite` */
export const acceptAsCaller = async (
  service: NamespaceServices,
  request: FastifyRequest,
  code: string,
): Promise<NamespaceInfo> => {
  const { reads, namespaces, write } = service
  const { userId } = requireCaller(request)
  const { namespaceId } = await requireInvite(service, code)
  const decide = acceptInvite({ id: userId, verifiedEmails: await verifiedEmailsOf(reads, userId) }, code)
  const answer = (state: Namespace) => toNamespaceInfo(namespaceId, presentNamespace(state), userId)
  return write(namespaces, namespaceId, { decide, answer }, contextOf(request))
}

const codeRoutes = (app: FastifyInstance, service: NamespaceServices) => {
  route(
    app,
    invites,
    'GET /v1/invites/{code}',
    async ({ params }) => ({ invite: (await requireInvite(service, params.code)).invite }),
    { config },
  )

  route(
    app,
    invites,
    'POST /v1/invites/{code}/accept',
    async (request) => ({ namespace: await acceptAsCaller(service, request, request.params.code) }),
    { config },
  )
}
