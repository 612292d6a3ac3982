import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export type FarProxy = { readonly url: string; close(): Promise<void> }

/** Passes bytes on later, in their order. */
const passOn = (from: Socket, to: Socket, ms: () => number) => {
  from.on('data', (bytes) => void setTimeout(() => to.write(bytes), ms()))
  from.on('end', () => void setTimeout(() => to.end(), ms()))
  from.on('error', () => to.destroy())
}

/** Another address of a service, to which a round trip takes `ms` more, as does the handshake of a connection. */
export const openFarProxy = async (service: string, ms: number): Promise<FarProxy> => {
  const { hostname, port } = new URL(service)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
    for (const socket of [client.setNoDelay(), upstream]) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
    const opened = performance.now() + ms
    passOn(client, upstream, () => Math.max(0, opened - performance.now()) + ms / 2)
    passOn(upstream, client, () => ms / 2)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
