import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { afterStored } from '../engine/rejected.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { Key, ShortText } from '../http/keys.ts'
import { answers, ok } from '../http/reply.ts'
import { isId, sha256 } from '../ids.ts'
import { idOfSlug, namespaceOfMember } from '../namespace/queries.ts'
import { NamespaceInfo } from '../namespace/views.ts'
import type { Service } from '../service.ts'
import { UserView, userById } from '../user/queries.ts'
import { currentSessionRoutes } from './current-routes.ts'
import { revoke, switchTo } from './decide.ts'
import { hasEnded, sessionsOf } from './queries.ts'
import { signIn } from './sign-in.ts'
import { InviteCode, NewSession, SessionView } from './views.ts'

const Start = z
  .object({
    deviceId: Key,
    deviceName: ShortText.optional(),
    namespaceId: z.string().optional(),
    inviteCode: InviteCode.optional(),
  })
  .meta({ id: 'SessionCreate' })
type Start = z.infer<typeof Start>

const Switch = z
  .object({ namespaceId: z.string().optional(), slug: Key.optional() })
  .refine(({ namespaceId, slug }) => namespaceId !== undefined || slug !== undefined, {
    error: 'namespaceId or slug is required',
  })
  .meta({ id: 'SessionSwitch' })
type Switch = z.infer<typeof Switch>

const Params = z.object({ id: Key })
const tags = ['sessions']

/** Sessions: start, list, switch, end (interface: Sessions). */
export const sessionRoutes = (app: FastifyInstance, service: Service): void => {
  const { reads, sessions, uses, now, visible, assertWritable } = service
  currentSessionRoutes(app, service)

  app.post<{ Body: Start }>(
    '/v1/session',
    {
      config: { auth: 'none', limit: 'device-session' },
      schema: {
        summary: 'Start a session as a device; its first one makes a user',
        tags,
        body: Start,
        response: answers(z.object({ session: NewSession }), 400, 403, 404, 410, 429),
      },
    },
    async ({ id: requestId, body }, reply) => {
      const { deviceId, deviceName, namespaceId, inviteCode } = body
      const key = sha256(deviceId)
      const credential = { type: 'device', key, profile: {} } as const
      const wish = { credential, namespaceId, deviceName, inviteCode, requestId }
      const session = await signIn(service, wish)
      return ok(reply.header('cache-control', 'no-store'), { session })
    },
  )

  app.post<{ Body: Switch }>(
    '/v1/session/switch',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'Make another namespace the active one of this session',
        tags,
        body: Switch,
        response: answers(
          z.object({ user: UserView, namespace: NamespaceInfo, session: z.object({ id: z.string() }) }),
          ...[400, 401, 403, 404],
        ),
      },
    },
    async (request, reply) => {
      assertWritable()
      const { userId, sessionId } = requireCaller(request)
      const { namespaceId, slug } = request.body
      const namespace = await namespaceOfMember(reads, namespaceId ?? idOfSlug(slug!), userId)
      const command = { decide: switchTo(userId, namespace.id), answer: () => {} }
      const { position } = await sessions.transact(sessionId, command, contextOf(request))
      await visible(position)
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
        tags,
        response: answers(z.object({ sessions: z.array(SessionView) }), 401),
      },
    },
    async (request, reply) => {
      const { userId, sessionId } = requireCaller(request)
      const found = await sessionsOf(reads, userId, now())
      const shown = found.map((session) => {
        const lastUsedAt = Math.max(session.lastUsedAt ?? 0, uses.lastUsed(session.id) ?? 0)
        return { ...session, ...(lastUsedAt > 0 ? { lastUsedAt } : {}), current: session.id === sessionId }
      })
      return ok(reply, { sessions: shown })
    },
  )

  app.delete<{ Params: { id: string } }>(
    '/v1/sessions/:id',
    {
      config: { auth: 'required' },
      schema: {
        summary: 'End one of your sessions',
        tags,
        params: Params,
        response: answers(z.object({ revoked: z.literal(true) }), 400, 401, 404),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      if (!isId(id)) throw notFound()
      assertWritable()
      if (await hasEnded(reads, id)) throw notFound()
      const command = { decide: revoke(requireCaller(request).userId), answer: () => {} }
      const { position } = await sessions.transact(id, command, contextOf(request))
      await visible(position)
      return ok(reply, { revoked: true })
    },
  )
}
