import type { IncomingMessage, Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { realtime } from '../contract/realtime.ts'
import { hasBody } from './sockets.ts'
import { answerUnderWay } from './when-over.ts'

const SOCKET: keyof typeof realtime = 'GET /v1/realtime'

const isForWebSocket = (request: IncomingMessage): boolean =>
  `${request.method} ${request.url?.split('?')[0]}` === SOCKET &&
  request.headers.upgrade?.toLowerCase() === 'websocket' &&
  request.httpVersion === '1.1' &&
  !hasBody(request)

/**
 * Whether a request asks for a WebSocket where there is one. Every other `Upgrade`, such as `h2c`, is answered as if it were not there (RFC 9110,
 * section 7.8), with its body, and the connection goes on; so is one that comes before the answer to an earlier request of its connection.
 */
export const isUpgrade = (server: Server, request: IncomingMessage): boolean =>
  isForWebSocket(request) && !answerUnderWay(request.socket) && server.listenerCount('upgrade') > 0

/** Ends the connection of a refused upgrade. Node gives such a connection no timeout any more, so it would stay open for ever. */
export const endAnsweredUpgrades = (app: FastifyInstance): void => {
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (isForWebSocket(raw)) raw.socket.end(() => raw.socket.destroy())
    done()
  })
}
