import type { FastifyInstance } from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp } from '../../../src/server/service/app.ts'
import { openWorld } from '../../support/world.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('writes from pages of other origins')
const endpoint = 'http://127.0.0.1:9'
const env = {
  CODEHOST_CLIENT_ID: 'id',
  CODEHOST_CLIENT_SECRET: 'secret',
  CODEHOST_AUTHORIZE_URL: `${endpoint}/authorize`,
  CODEHOST_TOKEN_URL: `${endpoint}/token`,
  CODEHOST_USER_URL: `${endpoint}/user`,
}
const others: FastifyInstance[] = []
test.after(async () => {
  for (const app of others) await app.close()
})
const { node } = await openWorld(test, { env })

const withSettings = async (settings: Partial<typeof node.service.config>) => {
  const app = await buildApp({ ...node.service, config: { ...node.service.config, ...settings } })
  others.push(app)
  return app
}

const trusted = 'https://app.example.org'
const loopback = await withSettings({
  PUBLIC_URL: 'https://traces.example.org',
  CORS_ORIGINS: [trusted],
  TRUST_PROXY: ['127.0.0.1'],
})
const open = await withSettings({ HOST: '0.0.0.0', PUBLIC_URL: 'https://traces.example.org' })

const writes = [
  ['/v1/session', { deviceId: 'a-device-of-this-test' }, 200],
  ['/v1/auth/start', { deviceId: 'a-device-of-this-test' }, 200],
  ['/v1/auth/complete', { state: 'x', exchangeCode: 'x' }, 400],
] as const

type Headers = Record<string, string>
const post = async (app: FastifyInstance, url: string, payload: object, headers: Headers) => {
  const answer = await app.inject({ method: 'POST', url, payload, headers: { host: '127.0.0.1:3000', ...headers } })
  return { status: answer.statusCode, code: answer.json().error?.code, headers: answer.headers }
}

const own: Headers[] = [
  {},
  { origin: 'http://127.0.0.1:3000' },
  { origin: 'http://localhost:3000', host: 'localhost:3000' },
  { origin: 'http://[::1]:3000', host: '[::1]:3000' },
  { origin: 'http://localhost', host: 'localhost:80' },
  { origin: 'https://localhost', host: 'localhost', 'x-forwarded-proto': 'https' },
  { origin: 'https://traces.example.org' },
  { origin: trusted },
]
const foreign: Headers[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: '' },
  { origin: 'http://localhost:5173', host: 'localhost:3000' },
  { origin: 'https://127.0.0.1:3000' },
  { origin: 'http://127.0.0.1:3000.evil.example' },
  { origin: 'http://traces.example.org' },
  { origin: 'http://traces.example.org', host: 'traces.example.org' },
  { origin: `${trusted}.evil.example` },
  { origin: 'http://127.0.0.1:3000, https://evil.example' },
]

for (const [url, body, status] of writes) {
  test(`POST ${url} on loopback is for programs, its own pages and those of CORS_ORIGINS`, async () => {
    for (const headers of own)
      assert.is((await post(loopback, url, body, headers)).status, status, JSON.stringify(headers))
    for (const headers of foreign) {
      const { status, code, headers: answered } = await post(loopback, url, body, headers)
      assert.equal([status, code], [403, 'forbidden'], JSON.stringify(headers))
      assert.is(answered['access-control-allow-origin'], '*')
    }
  })

  test(`POST ${url} on a network address is for every page`, async () => {
    for (const headers of [...own, ...foreign])
      assert.is((await post(open, url, body, headers)).status, status, JSON.stringify(headers))
  })
}

const messageFor = async (app: FastifyInstance, url: string, headers: Headers, contentType = 'application/json') => {
  const answer = await app.inject({
    method: 'POST',
    url,
    payload: contentType === 'application/json' ? { deviceId: 'x'.repeat(20) } : 'theme=dark&keys=on',
    headers: { host: '127.0.0.1:3000', 'content-type': contentType, ...headers },
  })
  assert.is(answer.statusCode, 403)
  return answer.json().error.message as string
}

const unnamed = await withSettings({ ALLOWED_HOSTS: ['traces.example.org'] })
const PAGE = 'https://traces.example.org'
/** How a request of a page of the service arrives that the service cannot know as one of its own. */
const unknowable: Record<string, Headers> = {
  'a proxy ends TLS and passes on the host': { origin: PAGE, host: 'traces.example.org' },
  'a proxy ends TLS and says so, but is not trusted': {
    origin: PAGE,
    host: 'traces.example.org',
    'x-forwarded-proto': 'https',
  },
  'a proxy replaces the host, and says by which': { origin: PAGE, 'x-forwarded-host': 'traces.example.org' },
  'a proxy replaces the host, and the browser says that it is the same origin': {
    origin: PAGE,
    'sec-fetch-site': 'same-origin',
  },
}

for (const [what, headers] of Object.entries(unknowable))
  test(`if ${what}, the refusal names PUBLIC_URL`, async () => {
    const setting = `set PUBLIC_URL to the address of the service, which seems to be ${PAGE}`
    assert.match(await messageFor(unnamed, '/v1/session', headers), setting)
    const form = 'application/x-www-form-urlencoded'
    for (const url of ['/settings/look', '/v1/auth/browser'])
      assert.match(await messageFor(unnamed, url, { ...headers, accept: 'application/json' }, form), setting, url)
    const other = await withSettings({ PUBLIC_URL: 'https://other.example.org', ALLOWED_HOSTS: ['traces.example.org'] })
    assert.match(
      await messageFor(other, '/v1/session', headers),
      'open it at the address that PUBLIC_URL names, https://other.example.org, or correct PUBLIC_URL',
    )
    const known = await withSettings({ PUBLIC_URL: PAGE })
    const { status } = await post(known, '/v1/session', { deviceId: 'a-device-of-this-test' }, headers)
    assert.is(status, 200, 'and that is enough')
  })

test('a page of another origin is told to be named in CORS_ORIGINS, unless it has no name', async () => {
  const origin = 'http://localhost:5173'
  for (const app of [unnamed, loopback])
    for (const more of [{}, { 'sec-fetch-site': 'same-site' }] as Headers[])
      assert.match(await messageFor(app, '/v1/session', { origin, ...more }), `add ${origin} to CORS_ORIGINS`)
  for (const origin of ['null', '', 'http://a, http://b'])
    assert.match(await messageFor(unnamed, '/v1/session', { origin }), /without a token: log in$/)
  const allowed = await withSettings({ CORS_ORIGINS: [origin] })
  const { status } = await post(allowed, '/v1/session', { deviceId: 'a-device-of-this-test' }, { origin })
  assert.is(status, 200)
})

test('a foreign host is told to be the one of PUBLIC_URL, or one more of ALLOWED_HOSTS', async () => {
  const headers = { host: 'box.example.org' }
  assert.match(
    await messageFor(unnamed, '/v1/session', headers),
    /set PUBLIC_URL to .*, or add this one to ALLOWED_HOSTS$/,
  )
  assert.not.match(await messageFor(loopback, '/v1/session', headers), 'PUBLIC_URL')
})

test('a refused request creates no user', async () => {
  const before = await node.service.log.head()
  for (const headers of foreign) await post(loopback, '/v1/session', { deviceId: 'somebody else' }, headers)
  assert.equal(await typesSince(node.service.log, before), [])
})

test('reads, preflights and writes with a token are for pages of any origin', async () => {
  const { token } = (
    await loopback.inject({ method: 'POST', url: '/v1/session', payload: { deviceId: 'a-device-of-this-test' } })
  ).json().data.session
  const origin = 'https://evil.example'
  assert.is((await loopback.inject({ url: '/v1/feed', headers: { origin } })).statusCode, 200)
  const preflight = await loopback.inject({ method: 'OPTIONS', url: '/v1/session', headers: { origin } })
  assert.equal([preflight.statusCode, preflight.headers['access-control-allow-origin']], [204, '*'])
  const headers = { origin, authorization: `Bearer ${token}` }
  const written = await loopback.inject({ method: 'POST', url: '/v1/traces', payload: { externalId: 't' }, headers })
  assert.is(written.statusCode, 200)
  const without = await loopback.inject({ method: 'POST', url: '/v1/traces', payload: { externalId: 't' } })
  assert.is(without.statusCode, 401)
})

test.run()
