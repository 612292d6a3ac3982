import type { Server } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { pause } from '../../base/waits.ts'
import type { Config } from '../config.ts'

/**
 * The socket that a node listens on. It stays open while one server takes the place of another: connections go to the server that is in use when
 * they come.
 */
export type Front = {
  /** Gives this server the connections that come from now on. */
  use(server: Server): void
  /** Closes the connections of a server once their requests are answered; after `ms` those that are left. */
  drain(server: Server, ms: number): Promise<void>
  /** @throws Error that names PORT if the port is in use */
  listen(config: Pick<Config, 'HOST' | 'PORT'>): Promise<void>
  port(): number
  /** Takes no more connections. */
  close(): void
}

const LOOK_MS = 20

export const newFront = (): Front => {
  let current: Server | undefined
  const listening = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const server = current! // it listens only once there is one
    open.get(server)?.add(socket)
    socket.once('close', () => open.get(server)?.delete(socket))
    server.emit('connection', socket)
  })
  /** The open connections of each server. */
  const open = new WeakMap<Server, Set<object>>()

  const use = (server: Server) => {
    open.set(server, new Set())
    server.address = () => listening.address()
    server.emit('listening') // from now on Node ends requests that do not arrive in time
    if (server.maxConnections) listening.maxConnections = server.maxConnections
    current = server
  }

  const drain = async (server: Server, ms: number) => {
    const isOpen = () => (open.get(server)?.size ?? 0) > 0
    for (const until = performance.now() + ms; isOpen() && performance.now() < until; await pause(LOOK_MS))
      server.closeIdleConnections()
    server.closeAllConnections()
  }

  const listen = async ({ HOST, PORT }: Pick<Config, 'HOST' | 'PORT'>) => {
    try {
      // `localhost` may be ::1 as well, which would need a second socket.
      await once(listening.listen({ host: HOST === 'localhost' ? '127.0.0.1' : HOST, port: PORT }), 'listening')
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
      throw new Error(`port ${PORT} of ${HOST} is in use: stop the program that uses it, or set PORT to another one`, {
        cause: error,
      })
    }
  }

  return {
    use,
    drain,
    listen,
    port: () => (listening.address() as AddressInfo).port,
    close: () => void listening.close(),
  }
}
