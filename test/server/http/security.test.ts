import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('security over HTTP')
const env = { CORS_ORIGINS: 'https://app.example.org', PUBLIC_URL: 'https://traces.example.org' }
const { node, openNode } = await openWorld(test)
const trusting = await openNode({ env })
const { app } = node
const { headers: ofAda } = await signIn(node)

test('every answer, errors included, is marked as not a page', async () => {
  for (const url of ['/health', '/v1/feed', '/v1/user', '/nowhere', '/%', '/v1/traces/%00']) {
    const { headers } = await app.inject({ url })
    assert.is(headers['x-content-type-options'], 'nosniff', url)
    assert.match(String(headers['content-security-policy']), "default-src 'none'", url)
    assert.match(String(headers['content-security-policy']), "frame-ancestors 'none'", url)
    assert.ok(headers['x-request-id'], url)
    assert.not.ok('strict-transport-security' in headers)
    assert.not.ok('x-powered-by' in headers)
  }
  const { headers } = await trusting.app.inject({ url: '/health' })
  assert.match(String(headers['strict-transport-security']), 'max-age=31536000')
})

test('the reference may run its own scripts and no inline ones', async () => {
  for (const url of ['/docs/', '/docs/static/index.html', '/docs/static/swagger-ui.css']) {
    const policy = String((await app.inject({ url })).headers['content-security-policy'])
    assert.match(policy, "script-src 'self'", url)
    assert.not.match(policy, /script-src[^;]*unsafe/, url)
    assert.match(policy, "default-src 'none'", url)
  }
})

test('any origin may call with a token, only trusted origins with the cookie', async () => {
  const ask = async ({ app }: App, origin: string, method: 'GET' | 'OPTIONS' = 'GET') =>
    (await app.inject({ method, url: '/v1/feed', headers: { origin } })).headers
  for (const method of ['GET', 'OPTIONS'] as const) {
    const free = await ask(node, 'https://anywhere.example', method)
    assert.is(free['access-control-allow-origin'], '*')
    const foreign = await ask(trusting, 'https://app.example.org.evil.example', method)
    assert.is(foreign['access-control-allow-origin'], '*')
    for (const headers of [free, foreign]) assert.not.ok('access-control-allow-credentials' in headers)
    const named = await ask(trusting, 'https://app.example.org', method)
    assert.is(named['access-control-allow-origin'], 'https://app.example.org')
    assert.is(named['access-control-allow-credentials'], 'true')
    assert.match(String(named.vary), /origin/i)
  }
  const preflight = await app.inject({ method: 'OPTIONS', url: '/v1/anything/at/all' })
  assert.equal([preflight.statusCode, preflight.headers['access-control-max-age']], [204, '86400'])
})

/** What the socket itself answers. */
const raw = async (request: string) => {
  const { port } = app.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.end(request)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  return { head, body }
}

test('a head that is too large, or none at all, is answered in the envelope', async () => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const large = `GET /health HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`
  for (const [request, status, code] of [
    [large, '400', 'invalid_request'],
    ['NONSENSE\r\n\r\n', '400', 'invalid_request'],
  ] as const) {
    const { head, body } = await raw(request)
    assert.is(head.split(' ')[1], status)
    assert.match(head, /x-request-id: \S+/)
    assert.is(JSON.parse(body).error.code, code)
  }
})

const nested = (depth: number) => `{"externalId":"x","title":${'['.repeat(depth)}${']'.repeat(depth)}}`

for (const [what, payload, status] of [
  ['nesting beyond any use', nested(100_000), 400],
  ['a body over 1 MiB', `"${'x'.repeat(1024 * 1024)}"`, 413],
  ['text that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400],
  ['a body that ends too early', '{', 400],
] as const) {
  test(`${what} gives ${status}`, async () => {
    const headers = { ...ofAda, 'content-type': 'application/json' }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/v1/traces', headers, payload })
    assert.is(statusCode, status)
    assert.match(body, '"ok":false')
  })
}

for (const [what, id, status] of [
  ['1,024 characters of four bytes', encodeURIComponent('\u{1f600}'.repeat(512)), 404],
  ['1,024 characters of three bytes', encodeURIComponent('あ'.repeat(1_024)), 404],
  ['1,025 characters', 'x'.repeat(1_025), 400],
  ['12,000 characters', 'x'.repeat(12_000), 400],
  ['NUL', '%00', 400],
  ['half a character', '%ED%A0%80', 400],
] as const) {
  test(`an id of ${what} gives ${status}`, async () => {
    const { statusCode, body } = await app.inject({ url: `/v1/traces/${id}`, headers: ofAda })
    assert.is(statusCode, status, body.slice(0, 200))
    assert.match(body, '"ok":false')
  })
}

test.run()
