import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../support/database.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('requests that Node would answer without a route')

const database = await freshDatabase()
const { app, close } = await openApp(database.url)
await app.listen({ host: '127.0.0.1', port: 0 })
test.after(async () => {
  await close()
  await database.drop()
})

/** Sends a text over a connection of its own, and gives all that comes back until the server closes it. */
const ask = async (request: string) => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
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

test('an upgrade on a path without a WebSocket is answered, and its connection ends', async () => {
  for (const path of ['/health', '/v1/feed', '/nothing']) {
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n'
    const answer = await ask(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${upgrade}\r\n`)
    assert.match(answer, path === '/nothing' ? 'HTTP/1.1 404' : 'HTTP/1.1 200')
  }
})

test.run()
