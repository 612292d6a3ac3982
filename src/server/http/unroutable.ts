import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../../contract/errors.ts'
import { JSON_TYPE } from './reply.ts'
import { newRequestId, requestIdOf } from './request-id.ts'
import { unhookedHeaders } from './security.ts'
import type { HttpConfig } from './settings.ts'
import { answerUnderWay, whenOver } from './when-over.ts'

/**
 * Answers requests that Node would answer itself, without a body: an `Expect` that is not `100-continue` (400), and `CONNECT` (404).
 * The connection ends with the answer, because what follows the head is not read.
 */
export const answerUnroutable = (server: Server, config: HttpConfig): void => {
  const headers = { ...unhookedHeaders(config), 'content-type': JSON_TYPE, connection: 'close' }

  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    error: { code: string; message: string },
  ) => {
    const body = JSON.stringify({ ok: false, error })
    const own = { 'content-length': Buffer.byteLength(body), 'x-request-id': requestIdOf(request) }
    response.writeHead(status, { ...headers, ...own }).end(body)
  }

  server.on('checkExpectation', (request, response) => {
    request.resume() // unread bytes would reset the connection before the answer has arrived
    refuse(request, response, 400, {
      code: 'invalid_request',
      message: 'The service takes no Expect header but 100-continue: send the request without it',
    })
  })
  const refuseConnect = (request: IncomingMessage, socket: Socket): void => {
    const earlier = answerUnderWay(socket)
    if (earlier) return whenOver(earlier, () => refuseConnect(request, socket))
    if (!socket.writable) return void socket.destroy()
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.on('finish', () => socket.end(() => socket.destroy()))
    refuse(request, response, 404, {
      code: 'not_found',
      message: 'The service is not a proxy: it does not take CONNECT',
    })
  }

  server.on('connect', (request, socket) => {
    socket.on('error', () => socket.destroy())
    refuseConnect(request, socket as Socket)
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
 * API. Nothing of such a request is stored. It comes behind the answers to earlier requests of the connection, and never into one of them.
 */
export const newBrokenHeadAnswer = (config: HttpConfig) => {
  const headers = Object.entries({ ...unhookedHeaders(config), 'content-type': JSON_TYPE, connection: 'close' })

  const answer = (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const begun = answerUnderWay(socket)
    if (begun?.req.complete) return whenOver(begun, () => answer(error, socket))
    if (begun?.headersSent) return void socket.destroy() // the answer to this very request, whose body is broken
    const { status, code, message, isRetriable } = answers[error.code ?? ''] ?? INVALID
    const details = isRetriable ? { details: { stored: false } } : {}
    const body = JSON.stringify({ ok: false, error: { code, message, ...details } })
    const head = [
      `HTTP/1.1 ${status}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${newRequestId()}`,
      ...(isRetriable ? ['retry-after: 1'] : []),
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  }

  return answer
}
