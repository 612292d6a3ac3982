import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { Key } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { verifiedEmailsOf } from '../user/queries.ts'
import { presentNamespace } from './decide.ts'
import { acceptInvite } from './decide-invites.ts'
import { inviteByCode } from './invite-queries.ts'
import { NamespaceInfo, PublicInvite, toNamespaceView } from './views.ts'
import type { NamespaceServices } from './services.ts'

const Params = z.object({ code: Key })
type Params = z.infer<typeof Params>

const tags = ['invites']

/** Routes to see and accept an invite, for those who have its code. */
export const inviteCodeRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, now, write } = service

  const requireInvite = async (code: string) => {
    const invite = await inviteByCode(reads, code, now())
    if (!invite) throw notFound()
    return invite
  }

  app.get<{ Params: Params }>(
    '/v1/invites/:code',
    {
      config: { auth: 'none', limit: 'invite-look-up' },
      schema: {
        summary: 'See where an invite leads to',
        description:
          'Anybody who has the code may look, as often as they like; also at an invite that is over. Errors: ' +
          '`not_found` (404); `rate_limited` (429) beyond 60 calls a minute from one address (default).',
        tags,
        params: Params,
        response: answers(z.object({ invite: PublicInvite }), 404),
      },
    },
    async ({ params }, reply) => ok(reply, { invite: (await requireInvite(params.code)).invite }),
  )

  app.post<{ Params: Params }>(
    '/v1/invites/:code/accept',
    {
      config: { auth: 'required', limit: 'invite-look-up' },
      schema: {
        summary: 'Join a namespace by an invite',
        description:
          'Makes you a member, with the role of the invite, and spends one use. Who is a member already stays as they ' +
          'are, and spends none. Errors: `forbidden` (403) for an invite to another e-mail address, and for one that ' +
          'is older than your removal by another admin, or as admin older than your demotion; `not_found` (404); ' +
          '`invite_revoked`, `invite_expired`, `invite_used` (410); `rate_limited` (429) beyond 60 calls a minute from ' +
          'one address (default).',
        tags,
        params: Params,
        response: answers(z.object({ namespace: NamespaceInfo }), 404, 410),
      },
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const { code } = request.params
      const { namespaceId } = await requireInvite(code)
      const user = { id: userId, verifiedEmails: await verifiedEmailsOf(reads, userId) }
      const namespace = await write(
        namespaces,
        namespaceId,
        {
          decide: acceptInvite(user, code),
          answer: (state) => toNamespaceView(namespaceId, presentNamespace(state), userId),
        },
        contextOf(request),
      )
      return ok(reply, { namespace })
    },
  )
}
