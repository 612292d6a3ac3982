import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestFailed } from '../../../src/client/api/errors.ts'
import { exchange } from '../../../src/client/api/exchange.ts'

const test = suite('an exchange with a server')

const getOf = (url: string) => ({ url, method: 'GET', headers: {} })
const limits = { timeoutMs: 60_000, maxBytes: 1 << 20 }

/** Runs `use` with the address of a server that answers so. */
const withServer = async (answer: RequestListener, use: (url: string) => Promise<void>): Promise<void> => {
  const server = createServer(answer)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    await new Promise((closed) => void (server.close(closed), server.closeAllConnections()))
  }
}

const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => assert.unreachable() as never,
    (error: unknown) => error as Error,
  )

test('an exchange sends the body and the headers unchanged, and returns the answer with its status and headers', async () => {
  let seen: { method?: string; length?: string; kind?: string; body: string } | undefined
  const answer = async (request: IncomingMessage) => {
    const { 'content-length': length, 'x-kind': kind } = request.headers
    seen = { method: request.method!, length: length!, kind: String(kind), body: await text(request) }
  }
  await withServer(
    (request, response) =>
      void answer(request).then(() => response.writeHead(404, { 'x-is': 'here' }).end('{"a":"é"}')),
    async (url) => {
      const request = { url: `${url}/x`, method: 'PUT', headers: { 'x-kind': 'test' }, body: '{"ä":"\u2028"}' }
      const response = await exchange(request, limits)
      assert.equal(seen, { method: 'PUT', length: '12', kind: 'test', body: '{"ä":"\u2028"}' })
      assert.equal([response.status, response.headers.get('x-is')], [404, 'here'])
      assert.is(response.text, '{"a":"é"}')
    },
  )
})

test('successive requests use one connection', async () => {
  const ports = new Set<number>()
  await withServer(
    ({ socket }, response) => (ports.add(socket.remotePort!), void response.end('{}')),
    async (url) => {
      for (let i = 0; i < 5; i++) await exchange(getOf(url), limits)
      assert.is(ports.size, 1)
    },
  )
})

test('a compressed answer is decompressed', async () => {
  const packed = { gzip: gzipSync('"g"'), deflate: deflateSync('"d"'), br: brotliCompressSync('"b"') }
  await withServer(
    ({ url }, response) => {
      const encoding = url!.slice(1) as keyof typeof packed
      response.writeHead(200, { 'content-encoding': encoding }).end(packed[encoding])
    },
    async (url) => {
      const letters = []
      for (const encoding of Object.keys(packed))
        letters.push(JSON.parse((await exchange(getOf(`${url}/${encoding}`), limits)).text))
      assert.equal(letters, ['g', 'd', 'b'])
    },
  )
})

test('a redirect is returned, not followed', async () => {
  let asked = 0
  await withServer(
    (_request, response) => (asked++, void response.writeHead(302, { location: '/other' }).end()),
    async (url) => {
      const { status, headers } = await exchange(getOf(url), limits)
      assert.equal([status, headers.get('location'), asked], [302, '/other', 1])
    },
  )
})

test('an answer that is cut off, wrongly compressed or missing is a network failure', async () => {
  await withServer(
    ({ url }, response) => {
      if (url === '/packed') return void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not packed')
      response.writeHead(200, { 'content-length': '100' }).write('{')
      if (url === '/cut') response.destroy()
    },
    async (url) => {
      for (const path of ['/cut', '/packed']) {
        const error = await failureOf(exchange(getOf(url + path), limits))
        assert.instance(error, TypeError)
        assert.instance(error.cause, Error)
      }
      const late = await failureOf(exchange(getOf(url), { ...limits, timeoutMs: 50 }))
      assert.is(late.name, 'TimeoutError')
      assert.instance(late, DOMException)
    },
  )
})

test('an error about an unreachable server has its error code', async () => {
  let gone = ''
  await withServer(
    () => {},
    async (url) => void (gone = url),
  )
  const error = await failureOf(exchange(getOf(gone), limits))
  assert.instance(error, TypeError)
  assert.is((error.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED')
})

test('an answer that is too large is refused, compressed or not', async () => {
  const large = Buffer.alloc((1 << 20) + 1, ' ')
  await withServer(
    ({ url }, response) =>
      void (url === '/packed'
        ? response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(large))
        : response.end(large)),
    async (url) => {
      for (const path of ['/plain', '/packed']) {
        const error = await failureOf(exchange(getOf(url + path), limits))
        assert.instance(error, RequestFailed)
        assert.match(error.message, 'its answer is larger than 1 MiB')
      }
    },
  )
})

test.run()
