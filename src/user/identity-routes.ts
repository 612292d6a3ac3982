import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { hiddenNotFound } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { notFound } from '../http/http-error.ts'
import { EXAMPLE_ID, done } from '../contract/fields.ts'
import { Key } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { isId } from '../ids.ts'
import { removeIdentity } from './decide.ts'
import { IdentityView, identitiesOf } from './queries.ts'
import type { UserServices } from './services.ts'

const Params = z.object({
  id: Key.meta({
    description: 'The id of the identity',
    examples: [EXAMPLE_ID],
  }),
})
const tags = ['users']

/** Routes to list and remove the caller's identities. */
export const identityRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, users, write, config } = service

  app.get(
    '/v1/user/identities',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List how you can sign in',
        description:
          'Devices and accounts at the code host that sign in as your user, oldest first. The id of a device itself is ' +
          'a secret and is never shown.',
        tags,
        response: answers(z.object({ identities: z.array(IdentityView).meta({ description: 'Your identities' }) })),
      },
    },
    async (request, reply) => ok(reply, { identities: await identitiesOf(reads, requireCaller(request).userId) }),
  )

  app.delete<{ Params: z.infer<typeof Params> }>(
    '/v1/user/identities/:id',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Remove a way to sign in: its sessions end, and who signs in with it is somebody new',
        description:
          'Ends the sessions of the identity. Who signs in with it afterwards becomes another, new user. Errors: ' +
          '`not_found` (404) for one that is not yours or was removed before; `last_identity` (409) for your only one.',
        tags,
        params: Params,
        response: answers(z.object({ removed: done('That the identity is removed') }), 404, 409),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      if (!isId(id)) throw notFound()
      const { userId, identityId, via } = requireCaller(request)
      const own = (await identitiesOf(reads, userId)).map((identity) => identity.id)
      if (!own.includes(id)) throw hiddenNotFound()
      const others = own.filter((other) => other !== id)
      await write(users, userId, { decide: removeIdentity(id, others) }, contextOf(request))
      if (via === 'cookie' && id === identityId) clearSessionCookie(reply, config)
      return ok(reply, { removed: true })
    },
  )
}
