import type { FastifyInstance } from 'fastify'
import { users } from '../contract/user.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { route } from '../http/route.ts'
import { rename } from './decide.ts'
import { identityRoutes } from './identity-routes.ts'
import { userById } from './queries.ts'
import type { UserServices } from './services.ts'

/** Routes to read and change the caller's own user. */
export const userRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, write } = service

  route(app, users, 'GET /v1/user', async (request) => ({
    user: await userById(reads, requireCaller(request).userId),
  }))

  route(app, users, 'PATCH /v1/user', async (request) => {
    const { userId } = requireCaller(request)
    const { displayName } = pickDefined(request.body, ['displayName'])
    if (displayName === undefined) return { user: await userById(reads, userId) }
    await write(service.users, userId, { decide: rename(displayName) }, contextOf(request))
    return { user: { id: userId, displayName } }
  })

  identityRoutes(app, service)
}
