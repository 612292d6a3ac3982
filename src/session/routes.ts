import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { EXAMPLE_DEVICE_ID, id as idOf, done } from '../contract/fields.ts'
import { Key, ShortText } from '../contract/parameters.ts'
import { UserView } from '../contract/user.ts'
import { answers, ok } from '../http/reply.ts'
import { isId, sha256 } from '../ids.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { NamespaceInfo } from '../contract/namespaces.ts'
import { userById } from '../user/queries.ts'
import { codeRoutes } from './code-routes.ts'
import { currentSessionRoutes } from './current-routes.ts'
import { revoke, switchTo } from './decide.ts'
import { DeviceId, assertDeviceId } from './device-id.ts'
import { hasEnded, sessionsOf } from './queries.ts'
import { givenCode } from './given-code.ts'
import { signIn } from './sign-in.ts'
import { InviteCode, JoinCode, NewSession, SessionView, WantedNamespace, deviceName } from './views.ts'
import type { SessionServices } from './services.ts'

const Start = z
  .object({
    deviceId: DeviceId,
    deviceName: ShortText.meta(deviceName).optional(),
    namespaceId: WantedNamespace.optional(),
    inviteCode: InviteCode.optional(),
    joinCode: JoinCode.optional(),
  })
  .meta({
    id: 'SessionCreate',
    description: 'Which device signs in',
    examples: [{ deviceId: EXAMPLE_DEVICE_ID, deviceName: 'my laptop' }],
  })
type Start = z.infer<typeof Start>

const Switch = z
  .object({
    namespaceId: z.string().meta({ description: 'The id of the namespace' }).optional(),
    slug: Key.meta({ description: 'The slug of the namespace', examples: ['my-team'] }).optional(),
  })
  .refine(({ namespaceId, slug }) => namespaceId !== undefined || slug !== undefined, {
    error: 'namespaceId or slug is required',
  })
  .meta({ id: 'SessionSwitch', description: 'A namespace, by id or by slug', examples: [{ slug: 'my-team' }] })
type Switch = z.infer<typeof Switch>

const Params = z.object({ id: Key })
const tags = ['sessions']

/** Routes to start, list, switch and end sessions. */
export const sessionRoutes = (app: FastifyInstance, service: SessionServices): void => {
  const { reads, sessions, lastUsed, now, write } = service
  currentSessionRoutes(app, service)
  codeRoutes(app, service)

  app.post<{ Body: Start }>(
    '/v1/session',
    {
      config: { auth: 'none', limit: 'device-session' },
      schema: {
        summary: 'Start a session as a device; its first one makes a user, or joins one',
        description:
          'Signs a device in, without a password: its `deviceId` is the secret. The first call with a `deviceId` makes a ' +
          'user, an identity, and a namespace of its own; each later one starts another session of the same user. ' +
          'With `joinCode`, of `POST /v1/session/device`, a new device becomes one of the user who made the code, ' +
          'instead; the same device may repeat that after a lost answer. ' +
          'Sessions live 90 days if the operator has not said otherwise. Errors: `invalid_request` (400) for a missing, ' +
          'short or example `deviceId`; `forbidden` (403) for a namespace that the user is no member of, and for a new ' +
          'user whose `inviteCode` no invite has, or who has none where only the invited may sign up; `not_found` (404) ' +
          'for an unknown namespace or `joinCode`; `device_known` (409) for a device that has a user already and so ' +
          'cannot join; `code_used`, `code_expired` (410) for a `joinCode` that another device has used, that is older ' +
          'than ten minutes, or whose maker’s session has ended; ' +
          '`invite_revoked`, `invite_expired`, `invite_used` (410); `rate_limited` (429) ' +
          'beyond 120 calls a minute from one address (default).',
        tags,
        body: Start,
        response: answers(z.object({ session: NewSession }), 403, 404, 409, 410),
      },
    },
    async (request, reply) => {
      const { deviceId, deviceName, namespaceId, inviteCode, joinCode } = request.body
      assertDeviceId(deviceId, service.config)
      const key = sha256(deviceId)
      const credential = { type: 'device', key, profile: {} } as const
      const join = joinCode === undefined ? undefined : givenCode(service, request, joinCode)
      const options = { namespaceId, deviceName, inviteCode, join, requestId: request.id }
      const session = await signIn(service, { credential, ...options })
      return ok(reply.header('cache-control', 'no-store'), { session })
    },
  )

  app.post<{ Body: Switch }>(
    '/v1/session/switch',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Make another namespace the active one of this session',
        description:
          'What the session writes goes to its active namespace, and its lists show that one. Name the namespace by ' +
          '`namespaceId` or by `slug`; with both the id counts. Switching again to the same namespace changes nothing. ' +
          'Errors: `invalid_request` (400) when both are missing; `forbidden` (403) when you are no member; `not_found` ' +
          '(404).',
        tags,
        body: Switch,
        response: answers(
          z.object({
            user: UserView,
            namespace: NamespaceInfo,
            session: z.object({ id: idOf('the session') }).meta({ description: 'The session that was switched' }),
          }),
          404,
        ),
      },
    },
    async (request, reply) => {
      const { userId, sessionId } = requireCaller(request)
      const { namespaceId, slug } = request.body
      const namespace = await namespaceOfMember(reads, namespaceId ?? idOfSlug(slug!), userId)
      await write(sessions, sessionId, { decide: switchTo(userId, namespace.id) }, contextOf(request))
      const user = await afterStored(userById(reads, userId))
      return ok(reply, { user, namespace, session: { id: sessionId } })
    },
  )

  app.get(
    '/v1/sessions',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'List your sessions, newest first',
        description:
          'All sessions of your user that have neither ended nor expired, on all devices. Tokens are never shown.',
        tags,
        response: answers(z.object({ sessions: z.array(SessionView).meta({ description: 'Your sessions' }) })),
      },
    },
    async (request, reply) => {
      const { userId, sessionId } = requireCaller(request)
      const stored = await sessionsOf(reads, userId, now())
      const views = stored.map((session) => {
        const lastUsedAt = Math.max(session.lastUsedAt ?? 0, lastUsed.get(session.id) ?? 0)
        return { ...session, ...(lastUsedAt > 0 ? { lastUsedAt } : {}), current: session.id === sessionId }
      })
      return ok(reply, { sessions: views })
    },
  )

  app.delete<{ Params: { id: string } }>(
    '/v1/sessions/:id',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'End one of your sessions',
        description:
          'Its token stops working at once here, and within a second on other nodes of the service. Errors: `not_found` ' +
          '(404) for a session that is not yours or has ended.',
        tags,
        params: Params,
        response: answers(z.object({ revoked: done('That the session has ended') }), 404),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      if (!isId(id)) throw notFound()
      if (await hasEnded(reads, id)) throw notFound()
      await write(sessions, id, { decide: revoke(requireCaller(request).userId) }, contextOf(request))
      return ok(reply, { revoked: true })
    },
  )
}
