import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { realtime } from '../../contract/realtime.ts'
import { hasBody } from './sockets.ts'
import { answerUnderWay } from './when-over.ts'

const SOCKET: keyof typeof realtime = 'GET /v1/realtime'

const isForWebSocket = (request: IncomingMessage): boolean =>
  `${request.method} ${request.url?.split('?')[0]}` === SOCKET &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  request.httpVersion === '1.1' &&
  !hasBody(request)

/** Requests with an `Upgrade`: whose connections Node has handed over, and whose are not. */
const [upgrades, ignored] = [new WeakSet<IncomingMessage>(), new WeakSet<IncomingMessage>()]

/**
 * Whether a request asks for a WebSocket where there is one. Every other `Upgrade`, such as `h2c`, is answered as if it were not there (RFC 9110,
 * section 7.8), with its body; so is one that comes before the answer to an earlier request of its connection. To be called once for each
 * request with an `Upgrade`.
 */
export const isUpgrade = (server: Server, request: IncomingMessage): boolean => {
  const isTaken = isForWebSocket(request) && !answerUnderWay(request.socket) && server.listenerCount('upgrade') > 0
  ;(isTaken ? upgrades : ignored).add(request)
  return isTaken
}

/**
 * Ends connections with the answer to an `Upgrade`. If it was ignored, Node drops what came in the same packet behind it: the client sees from
 * `Connection: close` that it has to send such requests again (RFC 9112, section 9.3.2). If it was refused, Node gives the connection no timeout any
 * more, so it would stay open for ever.
 */
export const endAnsweredUpgrades = (app: FastifyInstance): void => {
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (ignored.has(request)) response.shouldKeepAlive = false
  })
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (upgrades.has(raw)) raw.socket.end(() => raw.socket.destroy())
    done()
  })
}
