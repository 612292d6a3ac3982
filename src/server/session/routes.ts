import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type SessionView, sessions } from '../../contract/sessions.ts'
import { Rejected, Unavailable, afterStored } from '../../eventstore/engine/rejected.ts'
import { cookieNameOf, csrfTokenFor } from '../http/auth.ts'
import { type Caller, contextOf, requireCaller } from '../http/caller.ts'
import { clearSessionCookie } from '../http/cookies.ts'
import { readLogPosition } from '../http/log-position.ts'
import { route } from '../http/route.ts'
import { isId, sha256 } from '../../base/ids.ts'
import { idOfSlug, namespaceById, namespaceOfMember } from '../namespace/queries.ts'
import { userById } from '../user/queries.ts'
import { NO_SESSION, revoke, signOut, switchTo } from './decide.ts'
import { codeTermsOf } from './one-time-codes.ts'
import { hasEnded, sessionsOf } from './queries.ts'
import { codeInRequest } from './redeem.ts'
import { assertDeviceId, signIn } from './sign-in.ts'
import type { SessionServices } from './services.ts'

/** Routes to start, read, list, switch and end sessions, and to make codes for other devices. */
export const sessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, write } = service
  currentSessionRoutes(app, service)
  codeRoutes(app, service)
  serviceRoute(app, service)

  route(
    app,
    sessions,
    'POST /v1/session',
    async (request, reply) => {
      const { deviceId, deviceName, namespaceId, inviteCode, joinCode, displayName, slug } = request.body
      assertDeviceId(deviceId, service.config)
      const key = sha256(deviceId)
      const credential = { type: 'device', key, profile: {} } as const
      const join = joinCode === undefined ? undefined : codeInRequest(service, request, joinCode)
      const options = { namespaceId, deviceName, inviteCode, join, displayName, slug, requestId: request.id }
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
    return { sessions: await ownSessions(service, requireCaller(request)) }
  })

  route(app, sessions, 'DELETE /v1/sessions/{id}', async (request) => {
    await endOwnSession(service, request, request.params.id)
    return { revoked: true as const }
  })
}

/** The valid sessions of the caller, newest first. */
export const ownSessions = async (
  { reads, lastUsed, now }: Pick<SessionServices, 'reads' | 'lastUsed' | 'now'>,
  { userId, sessionId }: Caller,
): Promise<SessionView[]> =>
  (await sessionsOf(reads, userId, now())).map((session) => {
    const lastUsedAt = Math.max(session.lastUsedAt ?? 0, lastUsed.get(session.id) ?? 0)
    return { ...session, ...(lastUsedAt > 0 ? { lastUsedAt } : {}), current: session.id === sessionId }
  })

/** Ends one of the caller's sessions. @throws Rejected not_found */
export const endOwnSession = async (
  { reads, write, sessions: stream }: SessionServices,
  request: FastifyRequest,
  id: string,
): Promise<void> => {
  if (!isId(id) || (await hasEnded(reads, id))) throw new Rejected('not_found', NO_SESSION)
  await write(stream, id, { decide: revoke(requireCaller(request).userId) }, contextOf(request))
}

/** Routes to read and end the session of the request. */
const currentSessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, lastUsed, now, write } = service

  const describe = async ({ userId, identityId, sessionId, namespace, deviceName, expiresAt }: Caller) => {
    const [user, readNamespace] = await Promise.all([
      userById(reads, userId),
      namespace && namespaceById(reads, namespace.id, userId),
    ])
    // A cached caller may still have the role of a membership that has ended on another node within the last second.
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

  /** Whether the log has the event that an `x-log-position` names; false for a text that is not an `x-log-position`. */
  const isHeld = async (text: string) => {
    const anchor = readLogPosition(text)
    return anchor !== undefined && service.isHeld(anchor)
  }

  route(app, sessions, 'GET /v1/session', async (request, reply) => {
    const caller = requireCaller(request)
    const csrfToken = caller.via === 'cookie' ? csrfTokenFor(request, cookieNameOf(service.config, request)) : undefined
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

/** The route by which a client learns which service it is, before it has a session. */
const serviceRoute = (app: FastifyInstance, { config, logOfAllEpochs }: SessionServices): void =>
  route(app, sessions, 'GET /v1/service', () => {
    const log = logOfAllEpochs()
    if (log === undefined) throw new Unavailable('the log has not been read yet')
    return { log, ...(config.PUBLIC_URL === undefined ? {} : { publicUrl: config.PUBLIC_URL.replace(/\/$/, '') }) }
  })

const CODE_LIFETIME_MS = 10 * 60 * 1_000

/** Makes the code by which another device of the caller joins. */
export const makeDeviceCode = ({ codes }: Pick<SessionServices, 'codes'>, caller: Caller) =>
  codes.make('join', codeTermsOf(caller), CODE_LIFETIME_MS)

/** The route that makes codes for other devices of the caller. */
const codeRoutes = (app: FastifyInstance, service: SessionServices): void =>
  route(
    app,
    sessions,
    'POST /v1/session/device',
    async (request, reply) => {
      const made = await makeDeviceCode(service, requireCaller(request))
      reply.header('cache-control', 'no-store')
      return made
    },
    { config: { limit: 'sign-in' } },
  )
