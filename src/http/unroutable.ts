import { randomUUID } from 'node:crypto'
import { type Server, ServerResponse } from 'node:http'
import { JSON_TYPE } from './reply.ts'
import { unhookedHeaders } from './security.ts'
import type { HttpConfig } from './settings.ts'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../contract/errors.ts'

/**
 * Answers requests that Node would answer itself, without a body: an `Expect` that is not `100-continue` (400), and `CONNECT` (404).
 * The connection ends with the answer, because what follows the head is not read.
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
    refuse(response, 400, {
      code: 'invalid_request',
      message: 'The service takes no Expect header but 100-continue: send the request without it',
    })
  })
  server.on('connect', (request, socket) => {
    const response = new ServerResponse(request)
    response.assignSocket(socket as NonNullable<typeof request.socket>)
    response.on('finish', () => socket.end(() => socket.destroy()))
    socket.on('error', () => socket.destroy())
    refuse(response, 404, { code: 'not_found', message: 'The service is not a proxy: it does not take CONNECT' })
  })
}

type Answer = {
  readonly status: string
  readonly code: ErrorCode
  readonly message: string
  /** Whether the same request may succeed later. */
  readonly isRetriable?: true
}

const INVALID: Answer = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP: correct it',
}

/**
 * The answers by the error codes of Node. A request that arrives too slowly is not invalid: the client may send it again, which a
 * 400 would rule out.
 */
const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '400 Bad Request',
    code: 'invalid_request',
    message: 'The head of the request is larger than 32 KiB: send fewer or shorter headers',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '503 Service Unavailable',
    code: 'unavailable',
    message: 'The request did not arrive within two minutes: try again',
    isRetriable: true,
  },
}

/**
 * Answers a request that Node cannot parse, whose head is too large, or that did not arrive in time, with the JSON error of the
 * API. Nothing of such a request is stored.
 */
export const answerBrokenHead = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const { status, code, message, isRetriable } = answers[error.code ?? ''] ?? INVALID
  const details = isRetriable ? { details: { stored: false } } : {}
  const body = JSON.stringify({ ok: false, error: { code, message, ...details } })
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    ...(isRetriable ? ['retry-after: 1'] : []),
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
