import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Permit, Permits } from '../permits.ts'
import { addressKey } from './address.ts'
import type { LineBudget } from './line-budget.ts'

export type SocketsOptions = {
  readonly sockets: Permits
  readonly logger: Pick<Logger, 'warn'>
  readonly lines: LineBudget
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/**
 * Bounds the connections of a server, so that descriptors are left for the database and for others: where there is no room for one more,
 * the oldest idle one of the largest net is closed. One is idle that has not sent a whole request, or has its answer.
 */
export const boundSockets = (server: Server, { sockets, logger, lines }: SocketsOptions): void => {
  const permits = new WeakMap<Socket, Permit>()

  const enter = async (socket: Socket) => {
    const net = `net:${addressKey(socket.remoteAddress)}`
    const close = () => {
      socket.destroy()
      if (lines.take('sockets', net, 1))
        logger.warn({ net, connections: sockets.held() }, 'connections are closed: there are too many')
    }
    const permit = await sockets.acquire({ id: net, net }, 1, close).catch(close)
    if (!permit) return
    permits.set(socket, permit)
    if (socket.destroyed) permit.release()
    else socket.once('close', permit.release)
  }

  server.on('connection', (socket) => void enter(socket))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const permit = permits.get(request.socket)
    if (!permit) return
    if (hasBody(request)) request.once('end', permit.rest)
    else permit.rest()
    response.once('close', () => permit.moved(1))
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => permits.get(socket)?.rest())
}
