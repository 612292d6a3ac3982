import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { contextOf, requireCaller } from '../http/caller.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { ShortText } from '../contract/parameters.ts'
import { answers, ok } from '../http/reply.ts'
import { rename } from './decide.ts'
import { identityRoutes } from './identity-routes.ts'
import { UserView, userById } from './queries.ts'
import type { UserServices } from './services.ts'

const Update = z
  .object({
    displayName: ShortText.meta({ description: 'The name that others see', examples: ['Ada'] }).optional(),
  })
  .meta({ id: 'UserUpdate', description: 'What changes of the user', examples: [{ displayName: 'Ada' }] })
type Update = z.infer<typeof Update>

const tags = ['users']
const Answer = z.object({ user: UserView })

/** Routes to read and change the caller's own user. */
export const userRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, users, write } = service
  app.get(
    '/v1/user',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Read your user',
        description: 'The user that the session belongs to.',
        tags,
        response: answers(Answer),
      },
    },
    async (request, reply) => ok(reply, { user: await userById(reads, requireCaller(request).userId) }),
  )

  app.patch<{ Body: Update }>(
    '/v1/user',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Change your user',
        description: 'Gives you another name. What is not given stays; the same name again changes nothing.',
        tags,
        body: Update,
        response: answers(Answer),
      },
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const { displayName } = pickDefined(request.body, ['displayName'])
      if (displayName === undefined) return ok(reply, { user: await userById(reads, userId) })
      await write(users, userId, { decide: rename(displayName) }, contextOf(request))
      return ok(reply, { user: { id: userId, displayName } })
    },
  )

  identityRoutes(app, service)
}
