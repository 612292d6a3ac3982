import Fastify from 'fastify'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import {
  assertStatesAuth,
  cookieNameOf,
  csrfTokenOf,
  installAuth,
  presentedToken,
} from '../../../src/server/http/auth.ts'
import type { Caller } from '../../../src/server/http/caller.ts'
import { installErrors } from '../../../src/server/http/errors.ts'
import { newToken } from '../../../src/server/session/tokens.ts'

const test = suite('authentication')

for (const [environment, name] of [
  [{}, 'tracebook'],
  [{ HOST: '::1' }, 'tracebook'],
  [{ HOST: '127.0.0.9' }, 'tracebook'],
  [{ HOST: '0.0.0.0' }, '__Host-tracebook'],
  [{ PUBLIC_URL: 'http://localhost:3000' }, 'tracebook'],
  [{ PUBLIC_URL: 'http://[::1]:3000' }, 'tracebook'],
  [{ PUBLIC_URL: 'https://localhost' }, '__Host-tracebook'],
  [{ PUBLIC_URL: 'https://traces.example.org' }, '__Host-tracebook'],
] as const) {
  test(`the cookie of ${JSON.stringify(environment)} is ${name}`, () =>
    assert.is(cookieNameOf(readConfig(environment)), name))
}

for (const [headers, presented] of [
  [{}, undefined],
  [{ authorization: 'Bearer abc' }, { token: 'abc', via: 'bearer' }],
  [{ authorization: 'bearer  abc' }, { token: 'abc', via: 'bearer' }],
  [
    { authorization: 'Bearer', cookie: 'tracebook=c' },
    { token: '', via: 'bearer' },
  ],
  [
    { authorization: 'Basic x', cookie: 'tracebook=c' },
    { token: 'c', via: 'cookie' },
  ],
  [{ cookie: 'a=1; tracebook=c ; tracebook=d' }, { token: 'c', via: 'cookie' }],
  [{ cookie: 'xtracebook=c; tracebook' }, undefined],
  [{ cookie: 'tracebook=' }, undefined],
] as const) {
  test(`of ${JSON.stringify(headers)} ${JSON.stringify(presented)} is taken`, () =>
    assert.equal(presentedToken({ headers }, 'tracebook'), presented))
}

const token = newToken()
const caller: Caller = {
  userId: 'ada',
  identityId: 'device',
  sessionId: 'session',
  namespace: undefined,
  via: 'bearer',
  deviceName: undefined,
  expiresAt: undefined,
}
const used: string[] = []
const app = Fastify()
installErrors(app)
installAuth(app, {
  config: readConfig({}),
  limits: undefined,
  reads: { assertNotQuarantined: () => {} },
  tokens: { find: async (given) => (given === token ? caller : undefined) },
  lastUsed: { record: (id) => void used.push(id) },
})
for (const auth of ['required', 'optional', 'none'] as const) {
  app.post(`/${auth}`, { config: { auth } }, async (request) => ({ via: request.caller?.via ?? 'nobody' }))
}
test.after(() => app.close())

const cookie = `tracebook=${token}`
const csrf = { 'x-csrf-token': csrfTokenOf(token) }
for (const [url, headers, status, answer] of [
  ['/required', {}, 401, 'unauthorized'],
  ['/required', { authorization: `Bearer ${newToken()}`, cookie }, 401, 'unauthorized'],
  ['/required', { authorization: `Bearer ${token}` }, 200, 'bearer'],
  ['/required', { cookie }, 403, 'csrf_failed'],
  ['/optional', { cookie, 'x-csrf-token': csrfTokenOf(newToken()) }, 403, 'csrf_failed'],
  ['/required', { cookie, ...csrf }, 200, 'cookie'],
  ['/optional', {}, 200, 'nobody'],
  ['/none', { cookie }, 200, 'nobody'],
] as const) {
  test(`${url} with ${Object.keys(headers).join(', ') || 'nothing'} gives ${status} ${answer}, whatever the body`, async () => {
    used.length = 0
    const sent = status === 200 ? {} : { payload: '{', headers: { ...headers, 'content-type': 'application/json' } }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, ...sent })
    assert.is(statusCode, status)
    assert.match(body, `"${answer}"`)
    assert.equal(used, answer === 'bearer' || answer === 'cookie' ? ['session'] : [])
  })
}

test('a route without `auth` prevents the start of the service', () => {
  const other = Fastify()
  other.addHook('onRoute', assertStatesAuth)
  other.get('/stated', { config: { auth: 'none' } }, () => '')
  assert.throws(() => other.get('/forgotten', () => ''), 'GET /forgotten does not say who may call it')
})

test.run()
