import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { addressKey } from '../http/address.ts'
import { newAttempt } from '../http/attempt.ts'
import { cookieNameOf, presentedToken } from '../http/auth.ts'
import { ErrorBody } from '../http/errors.ts'
import { HttpError, rateLimited } from '../http/http-error.ts'
import { newTrustedOriginCheck } from '../http/origin.ts'
import { answers, okText } from '../http/reply.ts'
import type { Caller } from '../http/caller.ts'
import { clientOf } from '../http/node-permits.ts'
import { withPermit } from '../permits.ts'
import { type Connection, newConnection } from './connection.ts'
import type { Owner } from './connections.ts'
import { closeCodes } from './close-codes.ts'
import { MAX_FRAME_BYTES } from './protocol.ts'
import { realtimeDescription } from './reference.ts'
import { queryNames, questionOf } from './queries.ts'
import type { RealtimeServices } from './services.ts'

const QueryBody = z
  .object({
    query: z.string().meta({ description: `One of ${queryNames.join(', ')}`, examples: ['feed:getPublicTraces'] }),
    args: z.record(z.string(), z.unknown()).default({}).meta({ description: 'The arguments of the query' }),
  })
  .meta({
    id: 'Query',
    description: 'A realtime query',
    examples: [{ query: 'feed:getPublicTraces', args: { limit: 10 } }],
  })

/** Queries that are answered once, or again and again over a WebSocket. */
export const realtimeRoutes = (app: FastifyInstance, services: RealtimeServices): void => {
  queryRoute(app, services)
  void app.register(async (scope) => {
    await socketRoute(scope, services)
  })
}

/** Connections last: until one of an owner that has too many is closed it takes seconds rather than less. */
const CROWDED_MS = 10_000

/** The caller behind a token among arguments. @throws HttpError rate_limited when too many of an address are not valid */
const admit = async (services: RealtimeServices, ip: string, token: string): Promise<Caller | undefined> => {
  const attempt = newAttempt(services, ip)
  const caller = await attempt.callerOf(token)
  if (!caller) attempt.fail()
  return caller
}

const queryRoute = (app: FastifyInstance, services: RealtimeServices) => {
  const cookieName = cookieNameOf(services.config)
  app.post<{ Body: z.infer<typeof QueryBody> }>(
    '/v1/query',
    {
      config: { auth: 'optional', reads: true },
      schema: {
        summary: 'Answer a realtime query once',
        description:
          'The value that `GET /v1/realtime` would send first. `args.authToken` says whose answer it is; without it, the ' +
          'token of the request. Errors: `invalid_request` (400) for a query or arguments that there are not; ' +
          '`payload_too_large` (413) for messages of more than 8 MiB.',
        tags: ['realtime'],
        body: QueryBody,
        response: answers(
          z.object({ value: z.unknown().meta({ description: 'What the query gives; null for what may not be read' }) }),
        ),
      },
    },
    async (request, reply) => {
      const { query, args } = request.body
      const token = request.caller && presentedToken(request, cookieName)?.token
      const question = questionOf(services, query, args, token)
      if (question.token !== undefined) await admit(services, request.ip, question.token)
      await reply.reserveMemory(await question.maxBytes())
      const { value } = await withPermit(services.permits.reads, clientOf(request), question.ask)
      return okText(reply.header('cache-control', 'no-store'), `{"value":${value}}`)
    },
  )
}

const socketRoute = async (app: FastifyInstance, services: RealtimeServices) => {
  const { config, live, permits, connections, limits, metrics } = services
  const cookieName = cookieNameOf(config)
  const cookiesCountFrom = newTrustedOriginCheck(app, config)

  await app.register(websocket, {
    options: { maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false },
    // The plugin closes connections without a code: they are told when to come again before.
    preClose: (done: () => void) => void connections.closeAll().then(done),
    errorHandler: (_error: unknown, socket: WebSocket) => socket.terminate(),
  })

  /** Pages of other origins cannot speak for who is signed in: a cookie comes along without being asked for. */
  const tokenOf = (request: FastifyRequest): string | undefined => {
    const presented = request.caller && presentedToken(request, cookieName)
    return presented?.via !== 'cookie' || cookiesCountFrom(request) ? presented?.token : undefined
  }

  const ownerOf = (caller: Caller | undefined, { ip }: FastifyRequest): Owner => ({
    session: caller?.sessionId,
    address: addressKey(ip),
  })

  const open = (socket: WebSocket, request: FastifyRequest) => {
    const token = tokenOf(request)
    let caller = token === undefined ? undefined : request.caller
    const crowded = connections.crowded(ownerOf(caller, request))
    if (crowded) {
      metrics.realtimeDropped.inc({ code: closeCodes.tooMany })
      socket.close(closeCodes.tooMany, `too many connections of this ${crowded}`)
      return
    }
    const admitted = async (given: string) => {
      const found = await admit(services, request.ip, given)
      if (!found || caller) return
      caller = found
      connections.move(connection, ownerOf(caller, request))
    }
    const connection: Connection = newConnection({
      socket,
      live,
      maxSubscriptions: config.REALTIME_SUBSCRIPTIONS,
      questionOf: (query, args) => questionOf(services, query, args, token),
      admit: admitted,
      rateLimitWait: () =>
        caller ? limits?.reads.take(caller.sessionId) : limits?.anonymousReads.take(addressKey(request.ip)),
      client: () => clientOf({ caller, ip: request.ip }),
      turns: permits.turns,
      onYield: () => connections.cutOff(connection),
      onError: (error) => request.log.error(error),
      onPush: () => metrics.realtimePushes.inc(),
      onClose: () => connections.remove(connection),
    })
    connections.add(connection, ownerOf(caller, request))
  }

  app.get(
    '/v1/realtime',
    {
      config: { auth: 'optional' },
      websocket: true,
      schema: {
        summary: 'Subscribe to queries over a WebSocket',
        description: realtimeDescription(config),
        tags: ['realtime'],
        response: { 101: z.null().meta({ description: 'From here on the connection is a WebSocket' }), 404: ErrorBody },
      },
      preValidation: async (request) => {
        if (!request.ws) throw new HttpError('not_found', 'This address speaks WebSocket only')
        const caller = tokenOf(request) === undefined ? undefined : request.caller
        const crowded = connections.crowded(ownerOf(caller, request))
        if (crowded) throw rateLimited(CROWDED_MS, `Too many connections of this ${crowded}`)
      },
    },
    open,
  )
}
