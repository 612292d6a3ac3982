import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { markup } from '../../transcript/html/markup.ts'
import { RequestFailed } from '../api/errors.ts'

/** A local HTTP server that receives the browser's redirect at the end of a sign-in (RFC 8252, section 7.3). */
export type LoopbackReceiver = {
  readonly url: string
  /** The exchange code of the redirect with this `state`. Rejects with RequestFailed when it carries an error instead. */
  readonly waitForCode: (state: string) => Promise<string>
  readonly close: () => void
}

const pages = { done: 'You are signed in', failed: 'You are not signed in', unknown: 'This is not for you' }

const page = (text: string) =>
  markup`<!doctype html><meta charset="utf-8"><title>Tracebook</title><p>${text}. You can close this page.</p>`.source

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/** Listens on a free port of 127.0.0.1; undefined when that fails. */
export const openLoopbackReceiver = async (): Promise<LoopbackReceiver | undefined> => {
  const received = Promise.withResolvers<string>()
  received.promise.catch(() => {})
  let expectedState: string | undefined

  // `parameters` is undefined when the request line does not hold a valid URL.
  const receive = (parameters: URLSearchParams | undefined): keyof typeof pages => {
    if (expectedState === undefined || parameters?.get('state') !== expectedState) return 'unknown'
    const code = parameters.get('exchangeCode')
    if (code) return (received.resolve(code), 'done')
    received.reject(
      new RequestFailed(`the code host did not sign you in (${parameters.get('error') ?? 'no reason given'})`),
    )
    return 'failed'
  }

  const server = createServer(({ url = '/' }, response) => {
    const outcome = receive(URL.parse(url, 'http://127.0.0.1')?.searchParams)
    response.writeHead(outcome === 'unknown' ? 404 : 200, headers).end(page(pages[outcome]))
  })
  // Without a handler, the server would close a CONNECT request's connection without a response.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {}).end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n', () => socket.destroy())
  })
  const isOpen = await new Promise<boolean>((opened) => {
    server.once('error', () => opened(false)).listen(0, '127.0.0.1', () => opened(true))
  })
  if (!isOpen) return undefined
  const code = (state: string) => {
    expectedState = state
    return received.promise
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    waitForCode: code,
    close: () => void server.close(),
  }
}
