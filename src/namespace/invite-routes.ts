import type { FastifyInstance } from 'fastify'
import { invites } from '../contract/invites.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { route } from '../http/route.ts'
import { newInviteCode } from './invite-code.ts'
import { type Namespace, presentNamespace } from './decide.ts'
import { createInvite, revokeInvite } from './decide-invites.ts'
import { inviteCodeRoutes } from './invite-code-routes.ts'
import { inviteByCode, invitesOf } from './invite-queries.ts'
import { idOfSlug, namespaceOfAdmin } from './queries.ts'
import { toInviteView } from './views.ts'
import type { NamespaceServices } from './services.ts'

/** Routes to create, list and revoke the invites to a namespace, for its admins. */
export const inviteRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, now, write } = service
  inviteCodeRoutes(app, service)

  /** A new code that no invite of any namespace has. */
  const unusedCode = async (): Promise<string> => {
    const code = newInviteCode()
    return (await inviteByCode(reads, code, now())) ? unusedCode() : code
  }

  route(app, invites, 'POST /v1/namespaces/{slug}/invites', async (request) => {
    const id = idOfSlug(request.params.slug)
    const code = await unusedCode()
    const terms = { code, role: 'member' as const, ...pickDefined(request.body, ['role', 'email', 'maxUses']) }
    const decide = createInvite(requireCaller(request).userId, terms)
    const answer = (state: Namespace) => toInviteView(id, code, presentNamespace(state).invites.get(code)!, now())
    return { invite: await write(namespaces, id, { decide, answer }, contextOf(request)) }
  })

  route(app, invites, 'GET /v1/namespaces/{slug}/invites', async (request) => {
    const { id } = await namespaceOfAdmin(reads, idOfSlug(request.params.slug), requireCaller(request))
    return { invites: await invitesOf(reads, id, now()) }
  })

  route(app, invites, 'DELETE /v1/namespaces/{slug}/invites/{code}', async (request) => {
    const { slug, code } = request.params
    const decide = revokeInvite(requireCaller(request).userId, code)
    await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
    return { revoked: true as const }
  })
}
