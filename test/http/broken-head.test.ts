import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerBrokenHead } from '../../src/http/unroutable.ts'

const test = suite('http: requests that never come to a route')

/** Times out soon, and looks for it often, because the timeout itself is what is waited for. */
const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 })
server.on('clientError', answerBrokenHead)
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

test.run()
