import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { newBrokenHeadAnswer } from '../../../src/server/http/unroutable.ts'

const test = suite('http: requests that never come to a route')

/** Times out soon, and looks for it often, because the timeout itself is what is waited for. */
const times = { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 }
let answered = () => {}
const server = createServer(times, (request, response) => {
  request.on('error', () => {}).resume()
  if (request.url === '/begun') response.write('begun')
  if (request.url !== '/waits') return
  answered = () => response.end('whole')
  response.write('the ')
})
server.on('clientError', newBrokenHeadAnswer(readConfig({ PUBLIC_URL: 'https://traces.example.org' })))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
test.after(() => void server.close())

/** Sends a text, and gives the whole answer. */
const ask = async (request: string) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  const [line, ...headers] = head.split('\r\n')
  return { line, headers, error: JSON.parse(body).error as Record<string, unknown> }
}

const SLOW = {
  'whose head': 'GET / HTTP/1.1\r\nhost: a\r\n',
  'whose body': 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nx',
}

for (const [what, request] of Object.entries(SLOW))
  test(`a request ${what} does not arrive in time gets 503 and may be sent again`, async () => {
    const { line, headers, error } = await ask(request)
    assert.is(line, 'HTTP/1.1 503 Service Unavailable')
    assert.ok(headers.includes('retry-after: 1'))
    assert.equal([error.code, error.details], ['unavailable', { stored: false }])
  })

test('a request with a head of more than 32 KiB gets 400', async () => {
  const { line, headers, error } = await ask(`GET /${'x'.repeat(33 * 1024)} HTTP/1.1\r\nhost: a\r\n\r\n`)
  assert.is(line, 'HTTP/1.1 400 Bad Request')
  assert.not(headers.some((header) => header.startsWith('retry-after')))
  assert.equal(
    [error.code, error.message],
    ['invalid_request', 'The head of the request is larger than 32 KiB: send fewer or shorter headers'],
  )
})

test('a request that is not HTTP gets 400', async () => {
  const { line, error } = await ask('hello\r\n\r\n')
  assert.equal([line, error.code], ['HTTP/1.1 400 Bad Request', 'invalid_request'])
})

test('every such answer has the headers of all answers', async () => {
  const { headers } = await ask('hello\r\n\r\n')
  for (const header of [
    /^content-security-policy: default-src 'none'/,
    /^x-content-type-options: nosniff$/,
    /^strict-transport-security: max-age=31536000$/,
    /^access-control-allow-origin: \*$/,
    /^content-type: application\/json; charset=utf-8$/,
    /^connection: close$/,
    /^x-request-id: [\w-]{36}$/,
  ])
    assert.ok(
      headers.some((one) => header.test(one)),
      String(header),
    )
})

test('the answer to a broken request comes behind the one to the request before it', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const all = text(socket)
  socket.write('GET /waits HTTP/1.1\r\nhost: a\r\n\r\nhello\r\n\r\n')
  await once(socket, 'data')
  await new Promise(setImmediate)
  answered()
  assert.match(await all, /the \r\n5\r\nwhole\r\n0\r\n\r\nHTTP\/1\.1 400 Bad Request\r\n/)
})

test('an answer that has begun is broken off if the body of its request turns out to be broken', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const all = text(socket)
  socket.write('POST /begun HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n')
  await once(socket, 'data')
  socket.write('no number\r\n')
  const answer = await all
  assert.match(answer, 'begun')
  assert.not.match(answer, '400')
})

test.run()
