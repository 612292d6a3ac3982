import websocket from '@fastify/websocket'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { closeCodes } from '../../contract/close-codes.ts'
import { MAX_FRAME_BYTES } from '../../contract/frames.ts'
import { type Value, realtime } from '../../contract/realtime.ts'
import { addressKey } from '../http/address.ts'
import { newAttempt } from '../http/attempt.ts'
import { cookieNameOf, presentedToken } from '../http/auth.ts'
import { HttpError, rateLimited } from '../http/http-error.ts'
import { newTrustedOriginCheck } from '../http/origin.ts'
import { jsonText } from '../http/json-text.ts'
import { JSON_TYPE } from '../http/reply.ts'
import { route, optionsOf } from '../http/route.ts'
import type { Caller } from '../http/caller.ts'
import { clientOf } from '../http/node-permits.ts'
import { actAs, withPermit } from '../../base/current-client.ts'
import { type Connection, newConnection } from './connection.ts'
import type { Owner } from './connections.ts'
import { questionOf } from './queries.ts'
import type { RealtimeServices } from './services.ts'

/** The routes for queries that are answered once, or repeatedly over a WebSocket. */
export const realtimeRoutes = (app: FastifyInstance, services: RealtimeServices): void => {
  queryRoute(app, services)
  void app.register(async (scope) => {
    await socketRoute(scope, services)
  })
}

/** How long a client should wait if there are too many connections. They last, so it may be long. */
const CROWDED_MS = 10_000

/** The caller of a token among arguments. @throws HttpError rate_limited after too many invalid tokens of an address */
const admit = async (services: RealtimeServices, ip: string, token: string): Promise<Caller | undefined> => {
  const attempt = newAttempt(services, ip)
  const caller = await attempt.callerOf(token)
  if (!caller) attempt.fail()
  return caller
}

const queryRoute = (app: FastifyInstance, services: RealtimeServices) => {
  route(
    app,
    realtime,
    'POST /v1/query',
    async (request, reply) => {
      const { query, args = {} } = request.body
      const token = request.caller && presentedToken(request, cookieNameOf(services.config, request))?.token
      const question = questionOf(services, query, args, token)
      if (question.token !== undefined) await admit(services, request.ip, question.token)
      await reply.reserveMemory(await question.maxBytes())
      const { value } = await withPermit(services.permits.reads, clientOf(request), question.ask)
      reply.header('cache-control', 'no-store')
      return jsonText<Value>({ value })
    },
    { config: { reads: true } },
  )
}

const socketRoute = async (app: FastifyInstance, services: RealtimeServices) => {
  const { config, live, permits, connections, limits, metrics } = services
  const cookiesCountFrom = newTrustedOriginCheck(app, config)

  await app.register(websocket, {
    options: { maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false },
    // The plugin closes connections without a code: so they are closed here before, with one that says to come back.
    preClose: (done: () => void) => void connections.closeAll().then(done),
    errorHandler: (_error: unknown, socket: WebSocket) => socket.terminate(),
  })

  /** By their requests: `ws` answers these itself. */
  const replies = new WeakMap<IncomingMessage, FastifyReply>()

  /** Adds the headers of every answer to the one that opens a WebSocket. */
  const addHeaders = (headers: string[], request: IncomingMessage) => {
    for (const [name, value] of Object.entries(replies.get(request)!.getHeaders())) headers.push(`${name}: ${value}`)
  }

  /** Answers a handshake that `ws` does not accept. */
  const refuse = (problem: Error, _socket: unknown, request: IncomingMessage) => {
    const reply = replies.get(request)!
    const message = `${problem.message}: connect with a WebSocket client`
    const body = JSON.stringify({ ok: false, error: { code: 'invalid_request', message } })
    reply.raw.writeHead(400, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': JSON_TYPE,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
      'sec-websocket-version': '13',
    })
    reply.raw.end(body)
  }

  app.websocketServer.on('headers', addHeaders).on('wsClientError', refuse)

  /** A cookie does not count for pages of other origins, because browsers send it without being asked. */
  const tokenOf = (request: FastifyRequest): string | undefined => {
    const presented = request.caller && presentedToken(request, cookieNameOf(config, request))
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
    let client = clientOf({ caller, ip: request.ip })
    const admitted = async (given: string) => {
      const found = await actAs(client, () => admit(services, request.ip, given))
      if (!found || caller) return
      caller = found
      client = clientOf({ caller, ip: request.ip })
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
      client: () => client,
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
      ...optionsOf(realtime['GET /v1/realtime']),
      websocket: true,
      preValidation: async (request, reply) => {
        replies.set(request.raw, reply)
        if (!request.ws)
          throw new HttpError('not_found', 'This address only accepts WebSocket connections: send an upgrade')
        const caller = tokenOf(request) === undefined ? undefined : request.caller
        const crowded = connections.crowded(ownerOf(caller, request))
        if (crowded) throw rateLimited(CROWDED_MS, `Too many connections of this ${crowded}`)
      },
    },
    open,
  )
}
