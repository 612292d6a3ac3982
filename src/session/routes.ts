import type { FastifyInstance } from 'fastify'
import { sessions } from '../contract/sessions.ts'
import { afterStored } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { route } from '../http/route.ts'
import { isId, sha256 } from '../base/ids.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { userById } from '../user/queries.ts'
import { codeRoutes } from './code-routes.ts'
import { currentSessionRoutes } from './current-routes.ts'
import { revoke, switchTo } from './decide.ts'
import { assertDeviceId } from './device-id.ts'
import { hasEnded, sessionsOf } from './queries.ts'
import { givenCode } from './given-code.ts'
import { signIn } from './sign-in.ts'
import type { SessionServices } from './services.ts'

/** Routes to start, list, switch and end sessions. */
export const sessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, lastUsed, now, write } = service
  currentSessionRoutes(app, service)
  codeRoutes(app, service)

  route(
    app,
    sessions,
    'POST /v1/session',
    async (request, reply) => {
      const { deviceId, deviceName, namespaceId, inviteCode, joinCode } = request.body
      assertDeviceId(deviceId, service.config)
      const key = sha256(deviceId)
      const credential = { type: 'device', key, profile: {} } as const
      const join = joinCode === undefined ? undefined : givenCode(service, request, joinCode)
      const options = { namespaceId, deviceName, inviteCode, join, requestId: request.id }
      const session = await signIn(service, { credential, ...options })
      reply.header('cache-control', 'no-store')
      return { session }
    },
    { config: { limit: 'device-session' } },
  )

  route(app, sessions, 'POST /v1/session/switch', async (request) => {
    const { userId, sessionId } = requireCaller(request)
    const { namespaceId, slug } = request.body
    const namespace = await namespaceOfMember(reads, namespaceId ?? idOfSlug(slug!), userId)
    await write(service.sessions, sessionId, { decide: switchTo(userId, namespace.id) }, contextOf(request))
    const user = await afterStored(userById(reads, userId))
    return { user, namespace, session: { id: sessionId } }
  })

  route(app, sessions, 'GET /v1/sessions', async (request) => {
    const { userId, sessionId } = requireCaller(request)
    const stored = await sessionsOf(reads, userId, now())
    const views = stored.map((session) => {
      const lastUsedAt = Math.max(session.lastUsedAt ?? 0, lastUsed.get(session.id) ?? 0)
      return { ...session, ...(lastUsedAt > 0 ? { lastUsedAt } : {}), current: session.id === sessionId }
    })
    return { sessions: views }
  })

  route(app, sessions, 'DELETE /v1/sessions/{id}', async (request) => {
    const { id } = request.params
    if (!isId(id)) throw notFound()
    if (await hasEnded(reads, id)) throw notFound()
    await write(service.sessions, id, { decide: revoke(requireCaller(request).userId) }, contextOf(request))
    return { revoked: true as const }
  })
}
