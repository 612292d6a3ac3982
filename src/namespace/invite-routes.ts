import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { contextOf, requireCaller } from '../http/caller.ts'
import { done } from '../http/fields.ts'
import { given } from '../http/given.ts'
import { Key } from '../http/keys.ts'
import { answers, ok } from '../http/reply.ts'
import type { Service } from '../service.ts'
import { newCode } from './code.ts'
import { type DecideNamespace, type PresentNamespace, existing } from './decide.ts'
import { createInvite, revokeInvite } from './decide-invites.ts'
import { Role } from './events.ts'
import { inviteCodeRoutes } from './invite-code-routes.ts'
import { inviteByCode, invitesOf } from './invite-queries.ts'
import { idOfSlug, namespaceOfAdmin } from './queries.ts'
import { InviteView, newInviteView } from './views.ts'

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

const Namespace = z.object({ slug: Key })
type Namespace = z.infer<typeof Namespace>
const OfNamespace = Namespace.extend({ code: Key })

const tags = ['invites']

/** Invites to a namespace, as its admins make and see them. */
export const inviteRoutes = (app: FastifyInstance, service: Service): void => {
  const { reads, namespaces, now, visible, assertWritable } = service
  inviteCodeRoutes(app, service)

  const write = async <T>(
    request: FastifyRequest,
    id: string,
    decide: DecideNamespace,
    answer: (state: PresentNamespace) => T,
  ): Promise<T> => {
    assertWritable()
    const command = { decide, answer: (state: Parameters<DecideNamespace>[0]) => answer(existing(state)) }
    const outcome = await namespaces.transact(id, command, contextOf(request))
    await visible(outcome.position)
    return outcome.answer
  }

  /** A code that no invite of any namespace has. */
  const freeCode = async (): Promise<string> => {
    const code = newCode()
    return (await inviteByCode(reads, code, now())) ? freeCode() : code
  }

  app.post<{ Params: Namespace; Body: Create }>(
    '/v1/namespaces/:slug/invites',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Make an invite, as an admin',
        description:
          'Lives for 24 hours; each call makes another one. Send its code to whom you invite. Errors: `invalid_request` ' +
          '(400); `forbidden` (403) for who is no admin; `not_found` (404) for an unknown namespace.',
        tags,
        params: Namespace,
        body: Create,
        response: answers(z.object({ invite: InviteView }), 400, 401, 403, 404),
      },
    },
    async (request, reply) => {
      const id = idOfSlug(request.params.slug)
      const code = await freeCode()
      const terms = { code, role: 'member' as const, ...given(request.body, ['role', 'email', 'maxUses']) }
      const decide = createInvite(requireCaller(request).userId, terms)
      const toView = ({ invites }: PresentNamespace) => newInviteView(id, code, invites.get(code)!, now())
      return ok(reply, { invite: await write(request, id, decide, toView) })
    },
  )

  app.get<{ Params: Namespace }>(
    '/v1/namespaces/:slug/invites',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List the invites of a namespace, as an admin',
        description:
          'All of them, those that are over as well. Errors: `forbidden` (403) for who is no admin; `not_found` (404) ' +
          'for an unknown namespace.',
        tags,
        params: Namespace,
        response: answers(
          z.object({ invites: z.array(InviteView).meta({ description: 'The invites' }) }),
          400,
          401,
          403,
          404,
        ),
      },
    },
    async (request, reply) => {
      const { id } = await namespaceOfAdmin(reads, idOfSlug(request.params.slug), requireCaller(request))
      return ok(reply, { invites: await invitesOf(reads, id, now()) })
    },
  )

  app.delete<{ Params: z.infer<typeof OfNamespace> }>(
    '/v1/namespaces/:slug/invites/:code',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Revoke an invite, as an admin',
        description:
          'Its code stops working; who has joined stays. A repetition changes nothing. Errors: `forbidden` (403) for ' +
          'who is no admin; `not_found` (404) for an unknown namespace or code.',
        tags,
        params: OfNamespace,
        response: answers(z.object({ revoked: done('That the invite is revoked') }), 400, 401, 403, 404),
      },
    },
    async (request, reply) => {
      const { slug, code } = request.params
      await write(request, idOfSlug(slug), revokeInvite(requireCaller(request).userId, code), () => {})
      return ok(reply, { revoked: true })
    },
  )
}
