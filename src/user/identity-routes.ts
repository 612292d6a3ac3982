import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { afterStored, hiddenNotFound } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { notFound } from '../http/http-error.ts'
import { EXAMPLE_ID, done } from '../contract/fields.ts'
import { Key, ShortText } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { isId } from '../ids.ts'
import { nameIdentity, removeIdentity } from './decide.ts'
import { IdentityView, identitiesOf } from './queries.ts'
import type { UserServices } from './services.ts'

const Params = z.object({
  id: Key.meta({
    description: 'The id of the identity',
    examples: [EXAMPLE_ID],
  }),
})
const Update = z
  .object({ name: ShortText.min(1).meta({ description: 'What you call it', examples: ['my laptop'] }) })
  .meta({ id: 'IdentityUpdate', description: 'What changes of the identity', examples: [{ name: 'my laptop' }] })
const tags = ['users']

/** Routes to list and remove the caller's identities. */
export const identityRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, users, identities, write, config } = service

  /** One of the user's own. @throws not_found for all others */
  const ownIdentities = async (userId: string, id: string) => {
    if (!isId(id)) throw notFound()
    const all = await identitiesOf(reads, userId)
    if (!all.some((identity) => identity.id === id)) throw hiddenNotFound()
    return all
  }

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

  app.patch<{ Params: z.infer<typeof Params>; Body: z.infer<typeof Update> }>(
    '/v1/user/identities/:id',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Name a way to sign in',
        description:
          'Gives one of your devices or accounts a name, which only you see. The same name again changes nothing. Errors: ' +
          '`not_found` (404) for one that is not yours or was removed.',
        tags,
        params: Params,
        body: Update,
        response: answers(z.object({ identity: IdentityView }), 404),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { userId } = requireCaller(request)
      await ownIdentities(userId, id)
      await write(identities, id, { decide: nameIdentity(userId, request.body.name) }, contextOf(request))
      const identity = (await afterStored(identitiesOf(reads, userId))).find((one) => one.id === id)
      if (!identity) throw notFound()
      return ok(reply, { identity })
    },
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
      const { userId, identityId, via } = requireCaller(request)
      const own = await ownIdentities(userId, id)
      const others = own.flatMap((other) => (other.id === id ? [] : other.id))
      await write(users, userId, { decide: removeIdentity(id, others) }, contextOf(request))
      if (via === 'cookie' && id === identityId) clearSessionCookie(reply, config)
      return ok(reply, { removed: true })
    },
  )
}
