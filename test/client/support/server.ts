import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newService, type Service } from './service.ts'
import type { Answer, Asked } from './service-world.ts'

/** What to do with a request instead of answering it: cut the line before or after it took effect, leave it, or refuse it. */
export type Fault = 'cut before' | 'cut after' | 'no answer' | Answer

export type TestServer = Service & {
  readonly url: string
  readonly requests: Asked[]
  /** The requests that are no GET, as `METHOD path`. */
  readonly writes: () => readonly string[]
  /** Asked before each request; `undefined` lets it pass. A promise holds it until then. */
  fault: (asked: Asked) => Fault | undefined | Promise<Fault | undefined>
  readonly close: () => Promise<void>
}

const mostBytes = 16 << 20

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The path and the query, and beside them the namespace and the revision that a write names. */
const addressOf = (method: string, url: string): Pick<Asked, 'path' | 'ifRevision' | 'namespace'> => {
  const { pathname, searchParams: query } = new URL(url, 'http://service')
  if (method === 'GET' || pathname.endsWith('/erase')) return { path: url }
  const [namespace, revision] = [query.get('namespace'), query.get('ifRevision')]
  for (const name of ['namespace', 'ifRevision']) query.delete(name)
  return {
    path: query.size === 0 ? pathname : `${pathname}?${query}`,
    ...(namespace === null ? {} : { namespace }),
    ...(revision === null ? {} : { ifRevision: Number(revision) }),
  }
}

const reply = (response: ServerResponse, { status, headers, body }: Answer): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': randomUUID(), ...headers })
  response.end(JSON.stringify(body))
}

const answerTo = (service: Service, asked: Asked): Answer =>
  Buffer.byteLength(asked.text) > mostBytes
    ? { status: 413, body: { ok: false, error: { code: 'payload_too_large', message: 'Payload too large' } } }
    : service.answer(asked)

/** A small service on a real socket, in memory, made from the contract: what the client side needs, and faults on demand. */
export const startServer = async (): Promise<TestServer> => {
  const service = newService()
  const requests: Asked[] = []
  const http = createServer(async (request, response) => {
    const token = request.headers.authorization?.replace(/^Bearer /, '')
    const [method, url] = [request.method!, request.url!]
    const asked: Asked = { method, ...addressOf(method, url), token, text: await bodyOf(request) }
    requests.push(asked)
    const fault = await server.fault(asked)
    if (fault === 'cut before') return void request.socket.destroy()
    if (fault === 'no answer') return
    const answer = typeof fault === 'object' ? fault : answerTo(service, asked)
    if (fault === 'cut after') return void request.socket.destroy()
    reply(response, answer)
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const server: TestServer = Object.assign(service, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests,
    writes: () => requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
    fault: (_asked: Asked): Fault | undefined => undefined,
    close: () => new Promise<void>((closed) => void (http.close(() => closed()), http.closeAllConnections())),
  })
  return server
}
