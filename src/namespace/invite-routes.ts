import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { contextOf, requireCaller } from '../http/caller.ts'
import { done } from '../contract/fields.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { Key } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { newInviteCode } from './invite-code.ts'
import { type Namespace, presentNamespace } from './decide.ts'
import { createInvite, revokeInvite } from './decide-invites.ts'
import { Role } from './events.ts'
import { inviteCodeRoutes } from './invite-code-routes.ts'
import { inviteByCode, invitesOf } from './invite-queries.ts'
import { idOfSlug, namespaceOfAdmin } from './queries.ts'
import { InviteView, toInviteView } from './views.ts'
import type { NamespaceServices } from './services.ts'

const Create = z
  .object({
    email: z
      .email()
      .meta({ description: 'Only a user with this e-mail address, verified by the code host, may accept' })
      .optional(),
    maxUses: z
      .int()
      .min(0)
      .meta({ description: 'How many users may accept; 0: any number. Default: 1', examples: [1] })
      .optional(),
    role: Role.meta({ description: 'The role of who accepts. Default: `member`' }).optional(),
  })
  .meta({ id: 'InviteCreate', description: 'Who may accept, and as what', examples: [{ maxUses: 1, role: 'member' }] })
type Create = z.infer<typeof Create>

const Params = z.object({ slug: Key })
type Params = z.infer<typeof Params>
const InviteParams = Params.extend({ code: Key })

const tags = ['invites']

/** Routes to create, list and revoke the invites to a namespace, for its admins. */
export const inviteRoutes = (app: FastifyInstance, service: NamespaceServices): void => {
  const { reads, namespaces, now, write } = service
  inviteCodeRoutes(app, service)

  /** A new code that no invite of any namespace has. */
  const unusedCode = async (): Promise<string> => {
    const code = newInviteCode()
    return (await inviteByCode(reads, code, now())) ? unusedCode() : code
  }

  app.post<{ Params: Params; Body: Create }>(
    '/v1/namespaces/:slug/invites',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Make an invite, as an admin',
        description:
          'Lives for 24 hours; each call makes another one. Send its code to whom you invite. Errors: `invalid_request` ' +
          '(400); `forbidden` (403) for who is no admin; `not_found` (404) for an unknown namespace.',
        tags,
        params: Params,
        body: Create,
        response: answers(z.object({ invite: InviteView }), 404),
      },
    },
    async (request, reply) => {
      const id = idOfSlug(request.params.slug)
      const code = await unusedCode()
      const terms = { code, role: 'member' as const, ...pickDefined(request.body, ['role', 'email', 'maxUses']) }
      const decide = createInvite(requireCaller(request).userId, terms)
      const answer = (state: Namespace) => toInviteView(id, code, presentNamespace(state).invites.get(code)!, now())
      return ok(reply, { invite: await write(namespaces, id, { decide, answer }, contextOf(request)) })
    },
  )

  app.get<{ Params: Params }>(
    '/v1/namespaces/:slug/invites',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List the invites of a namespace, as an admin',
        description:
          'All of them, those that are over as well. Errors: `forbidden` (403) for who is no admin; `not_found` (404) ' +
          'for an unknown namespace.',
        tags,
        params: Params,
        response: answers(z.object({ invites: z.array(InviteView).meta({ description: 'The invites' }) }), 403, 404),
      },
    },
    async (request, reply) => {
      const { id } = await namespaceOfAdmin(reads, idOfSlug(request.params.slug), requireCaller(request))
      return ok(reply, { invites: await invitesOf(reads, id, now()) })
    },
  )

  app.delete<{ Params: z.infer<typeof InviteParams> }>(
    '/v1/namespaces/:slug/invites/:code',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Revoke an invite, as an admin',
        description:
          'Its code stops working; who has joined stays. A repetition changes nothing. Errors: `forbidden` (403) for ' +
          'who is no admin; `not_found` (404) for an unknown namespace or code.',
        tags,
        params: InviteParams,
        response: answers(z.object({ revoked: done('That the invite is revoked') }), 404),
      },
    },
    async (request, reply) => {
      const { slug, code } = request.params
      const decide = revokeInvite(requireCaller(request).userId, code)
      await write(namespaces, idOfSlug(slug), { decide }, contextOf(request))
      return ok(reply, { revoked: true })
    },
  )
}
