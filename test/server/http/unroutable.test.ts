import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld } from '../../support/world.ts'

const test = suite('requests that Node would answer without a route')

const { node } = await openWorld(test)
const { app } = node
await app.listen({ host: '127.0.0.1', port: 0 })

/** Sends a text over a connection of its own, and `behind` once its head has arrived. Gives all that comes back until the server closes it. */
const ask = async (request: string, behind?: string) => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  if (behind !== undefined) {
    await once(app.server, 'request')
    socket.write(behind)
  }
  return text(socket)
}

const parsed = (answer: string) => {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const [line, ...headers] = head.toLowerCase().split('\r\n')
  const { ok, error } = JSON.parse(body) as { ok: boolean; error: { code: string; message: string } }
  return { line, headers, ok, code: error.code }
}

const BODY = '{"deviceId":"x"}'
const post = (expect: string) =>
  `POST /v1/session HTTP/1.1\r\nhost: 127.0.0.1\r\nexpect: ${expect}\r\ncontent-type: application/json\r\n` +
  `content-length: ${BODY.length}\r\nconnection: close\r\n\r\n`

for (const [what, request, line, code] of [
  ['an unknown expectation', post('200-ok'), 'http/1.1 400 bad request', 'invalid_request'],
  ['an unknown expectation with a body', post('x') + BODY, 'http/1.1 400 bad request', 'invalid_request'],
  [
    'CONNECT',
    'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n',
    'http/1.1 404 not found',
    'not_found',
  ],
] as const)
  test(`${what} gets an error of the API, and the connection ends`, async () => {
    const answer = parsed(await ask(request))
    assert.equal([answer.line, answer.ok, answer.code], [line, false, code])
    for (const header of [
      'connection: close',
      'content-type: application/json; charset=utf-8',
      'x-content-type-options: nosniff',
    ])
      assert.ok(answer.headers.includes(header), header)
    assert.ok(answer.headers.some((header) => /^x-request-id: [\w-]{36}$/.test(header)))
  })

test('100-continue is answered, and then the request', async () => {
  const answer = await ask(post('100-continue') + BODY)
  assert.ok(answer.startsWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n'), answer)
})

const LAST = 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'
const HANDSHAKE = `sec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\nsec-websocket-version: 13\r\n`
const upgrade = (to: string, line: string, more = '') =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: ${to}\r\n${more}`
const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

for (const [to, line, status] of [
  ['websocket', 'GET /health', '200'],
  ['websocket', 'GET /v1/feed', '200'],
  ['websocket', 'GET /nothing', '404'],
  ['websocket', 'GET /v1/realtime/', '404'],
  ['websocket', 'HEAD /v1/realtime', '405'],
  ['h2c', 'GET /v1/feed', '200'],
  ['h2c', 'GET /v1/realtime', '404'],
  ['websocket', 'POST /v1/realtime', '405'],
  ['h2c, websocket', 'GET /v1/realtime', '404'],
  ['TLS/1.0', 'GET /health', '200'],
  ['h2c', 'GET /%', '400'],
] as const)
  test(`an upgrade to ${to} by ${line} is answered as if it were not there, and the client told to repeat what it sent behind it`, async () => {
    const answer = await ask(`${upgrade(to, line, HANDSHAKE)}\r\n${LAST}`)
    assert.equal(statuses(answer), [status])
    assert.match(answer, /\r\nconnection: close\r\n/i)
  })

test('a connection goes on after an upgrade that its Connection header does not name', async () => {
  const head = 'GET /v1/realtime HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\n'
  assert.equal(statuses(await ask(`${head}${HANDSHAKE}\r\n${LAST}`)), ['404', '200'])
})

test('a request with a body and an upgrade to h2c is read and answered', async () => {
  const head = upgrade('h2c', 'POST /v1/session', 'http2-settings: AAMAAABkAAQAAP__\r\n')
  const ofBody = `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n`
  for (const answer of [await ask(head + ofBody + BODY), await ask(head + ofBody, BODY)]) {
    assert.equal(statuses(answer), ['200'])
    assert.match(answer, '"token":"')
  }
})

for (const [what, handshake] of [
  ['no key', 'sec-websocket-version: 13\r\n'],
  ['a key that is none', 'sec-websocket-key: x\r\nsec-websocket-version: 13\r\n'],
  ['another version', HANDSHAKE.replace('13', '12')],
  ['a list of protocols that is none', `${HANDSHAKE}sec-websocket-protocol: a,,b\r\n`],
] as const)
  test(`a handshake with ${what} gets an error of the API`, async () => {
    const answer = parsed(await ask(`${upgrade('websocket', 'GET /v1/realtime', handshake)}x-request-id: mine\r\n\r\n`))
    assert.equal([answer.line, answer.ok, answer.code], ['http/1.1 400 bad request', false, 'invalid_request'])
    for (const header of [
      'x-request-id: mine',
      'x-content-type-options: nosniff',
      'content-type: application/json; charset=utf-8',
      'sec-websocket-version: 13',
    ])
      assert.ok(answer.headers.includes(header), header)
  })

test('an upgrade has the headers of all answers', async () => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`${upgrade('websocket', 'GET /v1/realtime?x', HANDSHAKE)}x-request-id: mine\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  assert.match(String(head), /^HTTP\/1\.1 101 [^]*\r\nx-request-id: mine\r\n[^]*nosniff\r\n/)
  socket.destroy()
})

/** A request that waits for the database before it is answered. */
const EARLIER = 'GET /v1/feed HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer x\r\n\r\n'

for (const [what, request, status] of [
  ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n', '404'],
  ['an unknown expectation', post('x') + BODY, '400'],
  ['a broken request', 'hello\r\n\r\n', '400'],
  ['an upgrade', `${upgrade('websocket', 'GET /v1/realtime', HANDSHAKE)}\r\n${LAST}`, '404'],
] as const)
  test(`${what} before the answer to an earlier request of its connection is answered behind it`, async () => {
    const answer = await ask(EARLIER + request)
    assert.equal(statuses(answer).slice(0, 2), ['200', status])
  })

test.run()
