import { randomUUID } from 'node:crypto'
import { type Server, ServerResponse } from 'node:http'
import { JSON_TYPE } from './reply.ts'
import { unhookedHeaders } from './security.ts'
import type { HttpConfig } from './settings.ts'

/**
 * Answers requests that Node would answer itself, without a body: an `Expect` that is not `100-continue` (400), and `CONNECT` (404).
 * The connection ends with the answer, because what follows it is not read.
 */
export const answerUnroutable = (server: Server, config: HttpConfig): void => {
  const headers = { ...unhookedHeaders(config), 'content-type': JSON_TYPE, connection: 'close' }

  const refuse = (response: ServerResponse, status: number, error: { code: string; message: string }) => {
    const body = JSON.stringify({ ok: false, error })
    const own = { 'content-length': Buffer.byteLength(body), 'x-request-id': randomUUID() }
    response.writeHead(status, { ...headers, ...own }).end(body)
  }

  server.on('checkExpectation', (request, response) => {
    request.resume() // unread bytes would reset the connection before the answer has arrived
    refuse(response, 400, { code: 'invalid_request', message: 'The only expectation that is met is 100-continue' })
  })
  server.on('connect', (request, socket) => {
    const response = new ServerResponse(request)
    response.assignSocket(socket as NonNullable<typeof request.socket>)
    response.on('finish', () => socket.end(() => socket.destroy()))
    socket.on('error', () => socket.destroy())
    refuse(response, 404, { code: 'not_found', message: 'This is no proxy: CONNECT leads nowhere' })
  })
}
