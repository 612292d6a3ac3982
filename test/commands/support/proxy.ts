import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Proxy = {
  readonly url: string
  /** Sets the address that requests go to from now on; they wait while there is none. */
  target(url: string | undefined): void
  /** StreamEvent of each batch of messages when its request has been passed on; the answer may still be under way. */
  onBatch: (count: number) => void
  close(): Promise<void>
}

const passOn = (incoming: IncomingMessage, outgoing: ServerResponse, url: string, sent: () => void) => {
  const forwarded = request(`${url}${incoming.url}`, { method: incoming.method, headers: incoming.headers })
  forwarded.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(outgoing)
    answer.on('aborted', () => outgoing.destroy())
  })
  forwarded.on('error', () => outgoing.destroy())
  forwarded.on('finish', sent)
  incoming.pipe(forwarded)
}

/** One address for a service that stops and starts again at another one. */
export const startProxy = async (first: string): Promise<Proxy> => {
  let [target, arrive] = [Promise.resolve(first), (_url: string): void => {}]
  let batches = 0
  const http = createServer(async (incoming, outgoing) => {
    const isBatch = /\/batch(\?|$)/.test(incoming.url!)
    passOn(incoming, outgoing, await target, () => isBatch && proxy.onBatch(++batches))
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    target: (url) => {
      if (url === undefined) target = new Promise((resolve) => (arrive = resolve))
      else arrive(url)
    },
    onBatch: () => {},
    close: () => new Promise((closed) => void (http.close(() => closed()), http.closeAllConnections())),
  }
  return proxy
}
