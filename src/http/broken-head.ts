import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'

const messages: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The head of the request is too large: 16 KiB at most',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Answers a request that Node cannot parse, or whose head is too large, with the JSON error of the API. */
export const answerBrokenHead = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const message = messages[error.code ?? ''] ?? 'The request is not valid HTTP'
  const body = JSON.stringify({ ok: false, error: { code: 'invalid_request', message } })
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${randomUUID()}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
