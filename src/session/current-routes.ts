import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { cookieNameOf, csrfTokenFor } from '../http/auth.ts'
import { type Caller, contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { done } from '../contract/fields.ts'
import { readLogPosition } from '../http/log-position.ts'
import { answers, ok } from '../http/reply.ts'
import { namespaceById } from '../namespace/queries.ts'
import { userById } from '../user/queries.ts'
import { signOut } from './decide.ts'
import { CurrentSession } from './views.ts'
import type { SessionServices } from './services.ts'

const Query = z.object({
  holds: z
    .string()
    .meta({
      description: 'An `x-log-position` of an answer to a write: whether the service has that write',
      examples: ['4.5f1c2e0a-6d1c-7a43-9b0f-3f1f6f0c1d2e'],
    })
    .optional(),
})
type Query = z.infer<typeof Query>
const tags = ['sessions']

/** Routes to read and end the session of the request. */
export const currentSessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, sessions, lastUsed, now, write } = service
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

  app.get<{ Querystring: Query }>(
    '/v1/session',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Who you are, and where',
        description:
          'The session that the request came with, its user and its active namespace. A page that signs in by cookie ' +
          'finds its `csrfToken` here. With `holds` it also says whether the service has a certain write: it has not where a ' +
          'backup was restored that is older. Errors: `invalid_request` (400) for two of them.',
        tags,
        querystring: Query,
        response: answers(CurrentSession),
      },
    },
    async (request, reply) => {
      const caller = requireCaller(request)
      const csrfToken = caller.via === 'cookie' ? csrfTokenFor(request, cookieName) : undefined
      const { holds } = request.query
      const described = { ...(await describe(caller)), ...(holds === undefined ? {} : { holds: await isHeld(holds) }) }
      if (csrfToken === undefined) return ok(reply, described)
      return ok(reply.header('cache-control', 'no-store'), { ...described, csrfToken })
    },
  )

  app.delete(
    '/v1/session',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'End this session',
        description:
          'Signs out: the token stops working at once here, and within a second on other nodes of the service. A cookie ' +
          'is cleared.',
        tags,
        response: answers(z.object({ revoked: done('That the session has ended') })),
      },
    },
    async (request, reply) => {
      const { sessionId, via } = requireCaller(request)
      await write(sessions, sessionId, { decide: signOut() }, contextOf(request))
      if (via === 'cookie') clearSessionCookie(reply, service.config)
      return ok(reply, { revoked: true })
    },
  )
}
