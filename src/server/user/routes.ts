import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { users } from '../../contract/user.ts'
import { Rejected, afterStored } from '../../eventstore/engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { pickDefined } from '../http/check.ts'
import { route } from '../http/route.ts'
import { NO_IDENTITY, nameIdentity, removeIdentity, rename } from './decide.ts'
import { identitiesOf, userById } from './queries.ts'
import type { UserServices } from './services.ts'

/** Routes to read and change the user of the caller, and its identities. */
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

const noIdentity = () => new Rejected('not_found', NO_IDENTITY, { hidesExistence: true })

/** The identities of the user, if one has this id. @throws Rejected not_found if none has */
const ownIdentities = async (reads: UserServices['reads'], userId: string, id: string) => {
  const all = await identitiesOf(reads, userId)
  if (!all.some((identity) => identity.id === id)) throw noIdentity()
  return all
}

/** Routes to list, name and remove the identities of the caller. */
const identityRoutes = (app: FastifyInstance, service: UserServices): void => {
  const { reads, write } = service

  route(app, users, 'GET /v1/user/identities', async (request) => ({
    identities: await identitiesOf(reads, requireCaller(request).userId),
  }))

  route(app, users, 'PATCH /v1/user/identities/{id}', async (request) => {
    const { id } = request.params
    const { userId } = requireCaller(request)
    await ownIdentities(reads, userId, id)
    await write(service.identities, id, { decide: nameIdentity(userId, request.body.name) }, contextOf(request))
    const identity = (await afterStored(identitiesOf(reads, userId))).find((one) => one.id === id)
    if (!identity) throw noIdentity()
    return { identity }
  })

  route(app, users, 'DELETE /v1/user/identities/{id}', async (request, reply) => {
    await removeOwnIdentity(service, request, reply, request.params.id)
    return { removed: true as const }
  })
}

/** Removes one of the caller's identities, and the cookie of a session of that identity. @throws Rejected not_found, last_identity */
export const removeOwnIdentity = async (
  { reads, write, users: stream, config }: UserServices,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<void> => {
  const { userId, identityId, via } = requireCaller(request)
  const own = await ownIdentities(reads, userId, id)
  const others = own.flatMap((other) => (other.id === id ? [] : other.id))
  await write(stream, userId, { decide: removeIdentity(id, others) }, contextOf(request))
  if (via === 'cookie' && id === identityId) clearSessionCookie(reply, config)
}
