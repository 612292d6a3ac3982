import type { FastifyInstance } from 'fastify'
import { invites } from '../contract/invites.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { verifiedEmailsOf } from '../user/queries.ts'
import { presentNamespace } from './decide.ts'
import { acceptInvite } from './decide-invites.ts'
import { inviteByCode } from './invite-queries.ts'
import { toNamespaceInfo } from './views.ts'
import type { NamespaceServices } from './services.ts'

const config = { limit: 'invite-look-up' } as const

/** Routes to see and accept an invite, for those who have its code. */
export const inviteCodeRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, now, write } = service

  const requireInvite = async (code: string) => {
    const invite = await inviteByCode(reads, code, now())
    if (!invite) throw notFound()
    return invite
  }

  route(
    app,
    invites,
    'GET /v1/invites/{code}',
    async ({ params }) => ({ invite: (await requireInvite(params.code)).invite }),
    { config },
  )

  route(
    app,
    invites,
    'POST /v1/invites/{code}/accept',
    async (request) => {
      const { userId } = requireCaller(request)
      const { code } = request.params
      const { namespaceId } = await requireInvite(code)
      const user = { id: userId, verifiedEmails: await verifiedEmailsOf(reads, userId) }
      const namespace = await write(
        namespaces,
        namespaceId,
        {
          decide: acceptInvite(user, code),
          answer: (state) => toNamespaceInfo(namespaceId, presentNamespace(state), userId),
        },
        contextOf(request),
      )
      return { namespace }
    },
    { config },
  )
}
