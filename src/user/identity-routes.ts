import type { FastifyInstance } from 'fastify'
import { users } from '../contract/user.ts'
import { afterStored, hiddenNotFound } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { notFound } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { isId } from '../base/ids.ts'
import { nameIdentity, removeIdentity } from './decide.ts'
import { identitiesOf } from './queries.ts'
import type { UserServices } from './services.ts'

/** Routes to list and remove the caller's identities. */
export const identityRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, write, config } = service

  /** One of the user's own. @throws not_found for all others */
  const ownIdentities = async (userId: string, id: string) => {
    if (!isId(id)) throw notFound()
    const all = await identitiesOf(reads, userId)
    if (!all.some((identity) => identity.id === id)) throw hiddenNotFound()
    return all
  }

  route(app, users, 'GET /v1/user/identities', async (request) => ({
    identities: await identitiesOf(reads, requireCaller(request).userId),
  }))

  route(app, users, 'PATCH /v1/user/identities/{id}', async (request) => {
    const { id } = request.params
    const { userId } = requireCaller(request)
    await ownIdentities(userId, id)
    await write(service.identities, id, { decide: nameIdentity(userId, request.body.name) }, contextOf(request))
    const identity = (await afterStored(identitiesOf(reads, userId))).find((one) => one.id === id)
    if (!identity) throw notFound()
    return { identity }
  })

  route(app, users, 'DELETE /v1/user/identities/{id}', async (request, reply) => {
    const { id } = request.params
    const { userId, identityId, via } = requireCaller(request)
    const own = await ownIdentities(userId, id)
    const others = own.flatMap((other) => (other.id === id ? [] : other.id))
    await write(service.users, userId, { decide: removeIdentity(id, others) }, contextOf(request))
    if (via === 'cookie' && id === identityId) clearSessionCookie(reply, config)
    return { removed: true as const }
  })
}
