import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Permit, Permits } from '../../base/permits.ts'
import { addressKey } from './address.ts'
import type { LineBudget } from './line-budget.ts'

type SocketsOptions = {
  readonly sockets: Permits
  readonly logger: Pick<Logger, 'warn'>
  readonly lines: LineBudget
}

/** How many connections beyond the limit may be open for a moment, while others are being closed. */
const MOST_BEYOND_LIMIT = 64

/** Whether a request announces a body that is not empty. */
export const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Bounds the connections of a server, so that file descriptors are left for the database and other uses. If there is no room for another
 * connection, the oldest idle connection of the net with the most connections is closed. A connection is idle if it has not sent a whole
 * request, or its request has been answered.
 */
export const boundSockets = (server: Server, { sockets, logger, lines }: SocketsOptions): void => {
  const connections = new WeakMap<Socket, { readonly permit: Permit; readonly answered: () => void }>()

  const enter = async (socket: Socket) => {
    const net = `net:${addressKey(socket.remoteAddress)}`
    const close = () => {
      socket.destroy()
      if (lines.take('sockets', net, 1))
        logger.warn({ net, connections: sockets.held() }, 'connections are closed: there are too many')
    }
    const permit = await sockets.acquire({ id: net, net }, 1, close).catch(close)
    if (!permit) return
    connections.set(socket, { permit, answered: () => permit.moved(1) })
    if (socket.destroyed) permit.release()
    else socket.once('close', permit.release)
  }

  server.maxConnections = sockets.capacity + MOST_BEYOND_LIMIT
  server.on('connection', (socket) => void enter(socket))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const found = connections.get(request.socket)
    if (!found) return
    const { permit, answered } = found
    if (hasBody(request)) request.once('end', () => response.closed || permit.rest())
    else permit.rest()
    response.on('close', answered)
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => connections.get(socket)?.permit.rest())
}
