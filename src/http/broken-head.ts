import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Code } from './http-error.ts'

type Answer = {
  readonly status: string
  readonly code: Code
  readonly message: string
  /** Whether the same request may succeed later. */
  readonly isRetriable?: true
}

const INVALID: Answer = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP',
}

/**
 * By the codes of Node, with the statuses that the API has. A request that came too slowly was not invalid: clients must not take
 * the answer as final.
 */
const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '400 Bad Request',
    code: 'invalid_request',
    message: 'The head of the request is too large: 16 KiB at most',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '503 Service Unavailable',
    code: 'unavailable',
    message: 'The request did not arrive in time; try again',
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
