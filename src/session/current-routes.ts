import type { FastifyInstance } from 'fastify'
import { sessions } from '../contract/sessions.ts'
import { cookieNameOf, csrfTokenFor } from '../http/auth.ts'
import { type Caller, contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { readLogPosition } from '../http/log-position.ts'
import { route } from '../http/route.ts'
import { namespaceById } from '../namespace/queries.ts'
import { userById } from '../user/queries.ts'
import { signOut } from './decide.ts'
import type { SessionServices } from './services.ts'

/** Routes to read and end the session of the request. */
export const currentSessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, lastUsed, now, write } = service
  const cookieName = cookieNameOf(service.config)

  const describe = async ({ userId, identityId, sessionId, namespace, deviceName, expiresAt }: Caller) => {
    const [user, readNamespace] = await Promise.all([
      userById(reads, userId),
      namespace && namespaceById(reads, namespace.id, userId),
    ])
    // The caller may come from the cache: a membership that ended on another node within the last second still has its role.
    const info = readNamespace && namespace && { ...readNamespace, role: readNamespace.role ?? namespace.role }
    const role = info && { role: info.role }
    const logId = service.logId()
    return {
      session: {
        id: sessionId,
        userId,
        identityId,
        ...(info ? { namespaceId: info.id, namespaceSlug: info.slug, ...role } : {}),
        ...(deviceName === undefined ? {} : { deviceName }),
        lastUsedAt: lastUsed.get(sessionId) ?? now(),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
      user,
      ...(info ? { namespace: info, ...role } : {}),
      ...(logId === undefined ? {} : { logId }),
    }
  }

  /** What is not an `x-log-position` is held by no log. */
  const isHeld = async (text: string) => {
    const anchor = readLogPosition(text)
    return anchor !== undefined && service.isHeld(anchor)
  }

  route(app, sessions, 'GET /v1/session', async (request, reply) => {
    const caller = requireCaller(request)
    const csrfToken = caller.via === 'cookie' ? csrfTokenFor(request, cookieName) : undefined
    const { holds } = request.query
    const described = { ...(await describe(caller)), ...(holds === undefined ? {} : { holds: await isHeld(holds) }) }
    if (csrfToken === undefined) return described
    reply.header('cache-control', 'no-store')
    return { ...described, csrfToken }
  })

  route(app, sessions, 'DELETE /v1/session', async (request, reply) => {
    const { sessionId, via } = requireCaller(request)
    await write(service.sessions, sessionId, { decide: signOut() }, contextOf(request))
    if (via === 'cookie') clearSessionCookie(reply, service.config)
    return { revoked: true as const }
  })
}
