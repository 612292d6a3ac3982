import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RequestFailed } from '../api/errors.ts'

/** A port of this machine that a browser is sent to at the end of a sign-in. */
export type Loopback = {
  readonly url: string
  /** The code that comes in for `state`. Rejects with RequestFailed when the browser brings an error instead. */
  readonly code: (state: string) => Promise<string>
  readonly close: () => void
}

const pages = { done: 'You are signed in', failed: 'You are not signed in', unknown: 'This is not for you' }

const page = (text: string) =>
  `<!doctype html><meta charset="utf-8"><title>Tracebook</title><p>${text}. You can close this page.</p>`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/** Opens a port for one answer; undefined where that is not possible. */
export const openLoopback = async (): Promise<Loopback | undefined> => {
  const arrived = Promise.withResolvers<string>()
  arrived.promise.catch(() => {})
  let expected: string | undefined

  // A request line need not hold an address at all.
  const receive = (parameters: URLSearchParams | undefined): keyof typeof pages => {
    if (expected === undefined || parameters?.get('state') !== expected) return 'unknown'
    const code = parameters.get('exchangeCode')
    if (code) return (arrived.resolve(code), 'done')
    arrived.reject(
      new RequestFailed(`the code host did not sign you in (${parameters.get('error') ?? 'no reason given'})`),
    )
    return 'failed'
  }

  const server = createServer(({ url = '/' }, response) => {
    const outcome = receive(URL.parse(url, 'http://127.0.0.1')?.searchParams)
    response.writeHead(outcome === 'unknown' ? 404 : 200, headers).end(page(pages[outcome]))
  })
  // Left to itself, the server would hang up on this method without an answer.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {}).end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n', () => socket.destroy())
  })
  const isOpen = await new Promise<boolean>((opened) => {
    server.once('error', () => opened(false)).listen(0, '127.0.0.1', () => opened(true))
  })
  if (!isOpen) return undefined
  const code = (state: string) => {
    expected = state
    return arrived.promise
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, code, close: () => void server.close() }
}
