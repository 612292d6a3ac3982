import http, { type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApp } from '../../../src/server/service/app.ts'
import { readConfig } from '../../../src/server/config.ts'
import { newWorld } from '../../support/world.ts'

const test = suite('http: metrics')
const TOKEN = 'a-token/of+the~operator=='
const { node, openNode, close } = await newWorld({ env: { METRICS_TOKEN: TOKEN } })
const withoutToken = await buildApp({ ...node.service, config: readConfig({}) })
test.after(async () => {
  await withoutToken.close()
  await close()
})

type Asked = { readonly headers?: Record<string, string>; readonly remoteAddress?: string }
const ask = async (asked: Asked, app = node.app) => {
  const { statusCode, headers, body } = await app.inject({ url: '/metrics', ...asked })
  return { status: statusCode, headers, body }
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

for (const [what, asked] of [
  ['a program on this machine', {}],
  ['a program on this machine, over IPv6', { remoteAddress: '::1', headers: { host: '[::1]:3000' } }],
  ['a program on this machine, at a mapped address', { remoteAddress: '::ffff:127.0.0.1' }],
  ['somebody who types the address into a browser on this machine', { headers: { 'sec-fetch-site': 'none' } }],
  ['a program elsewhere with the token', { remoteAddress: '192.0.2.7', headers: bearer(TOKEN) }],
  ['a program behind a proxy with the token', { headers: { ...bearer(TOKEN), 'x-forwarded-for': '192.0.2.7' } }],
] as const)
  test(`${what} may read them`, async () => {
    const { status, headers, body } = await ask(asked)
    assert.is(status, 200, body)
    assert.match(String(headers['content-type']), 'text/plain')
    assert.is(headers['cache-control'], 'no-store')
    assert.match(body, /^tracebook_held\{kind="answers"\} \d+$/m)
  })

const refused: readonly (readonly [string, Asked])[] = [
  ['a program elsewhere', { remoteAddress: '192.0.2.7' }],
  ['a program elsewhere that names this machine', { remoteAddress: '192.0.2.7', headers: { host: '127.0.0.1' } }],
  ['a program elsewhere with another token', { remoteAddress: '192.0.2.7', headers: bearer(`${TOKEN}x`) }],
  ['a program elsewhere with an empty token', { remoteAddress: '192.0.2.7', headers: { authorization: 'Bearer ' } }],
  ['a name of a website that leads here', { headers: { host: 'evil.example' } }],
  ['a page of another origin', { headers: { origin: 'https://evil.example' } }],
  ['a page that may not read the answer', { headers: { 'sec-fetch-site': 'cross-site' } }],
  ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'Via', 'X-Real-IP'].map(
    (name) => [`a proxy on this machine that says so by ${name}`, { headers: { [name]: '127.0.0.1' } }] as const,
  ),
]

for (const [what, asked] of refused)
  test(`${what} may not read them`, async () => {
    for (const app of [node.app, withoutToken]) {
      const { status, headers, body } = await ask(asked, app)
      if (status === 403)
        assert.match(body, 'evil.example') // the check of hosts comes first
      else assert.equal([status, headers['www-authenticate']], [401, 'Bearer'])
      const { ok, error } = JSON.parse(body)
      assert.is(ok, false)
      if (status === 401) assert.match(error.message, /METRICS_TOKEN .* `Authorization: Bearer <token>`$/)
      assert.not.match(body, /tracebook_held/)
    }
  })

test('without METRICS_TOKEN no token is enough, not even an empty one', async () => {
  for (const token of [TOKEN, 'undefined', '']) {
    const { status } = await ask({ remoteAddress: '192.0.2.7', headers: bearer(token) }, withoutToken)
    assert.is(status, 401)
  }
})

test('a browser that is refused is not asked to sign in', async () => {
  const { status, headers } = await ask({ remoteAddress: '192.0.2.7', headers: { accept: 'text/html' } })
  assert.equal([status, headers['content-type']], [401, 'application/json; charset=utf-8'])
})

test('an address that is refused too often has to wait; programs on this machine do not', async () => {
  const limited = await openNode({ env: { METRICS_TOKEN: '', RATE_LIMITS: 'on', RATE_LIMIT_UNAUTHORIZED: '3' } })
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await ask({ remoteAddress: '192.0.2.7' }, limited.app)).status)
  assert.equal(statuses, [401, 401, 401, 429, 429])
  for (let i = 0; i < 5; i++) assert.is((await ask({}, limited.app)).status, 200)
})

test('of a service that listens everywhere others may not read them either', async () => {
  const app = await buildApp({ ...node.service, config: { ...node.service.config, HOST: '0.0.0.0' } })
  await app.listen({ host: '0.0.0.0', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const statusAt = async (host: string) => {
    const [answer] = (await once(http.get({ host, port, path: '/metrics', agent: false }), 'response')) as [
      IncomingMessage,
    ]
    await text(answer)
    return answer.statusCode
  }
  assert.is(await statusAt('127.0.0.1'), 200)
  const others = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const outside = others.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (outside) assert.is(await statusAt(outside.address), 401)
  await app.close()
})

test('METRICS_TOKEN is a token that can be sent', () => {
  for (const METRICS_TOKEN of ['two words', 'half \ud83d', 'quote"', 'line\nline'])
    assert.throws(() => readConfig({ METRICS_TOKEN }), /METRICS_TOKEN: must have only letters, digits/)
  assert.is(readConfig({ METRICS_TOKEN: TOKEN }).METRICS_TOKEN, TOKEN)
  assert.is(readConfig({ METRICS_TOKEN: '' }).METRICS_TOKEN, undefined)
})

/** Requests with everything that a stranger may choose. */
const strange = async (i: number) => {
  const method = http.METHODS.filter((one) => one !== 'CONNECT')[i % 34]!
  const headers = {
    'user-agent': `agent-${i}`,
    host: `localhost:${i}`,
    'x-request-id': `id-${i}`,
    'mcp-name': `tool-${i}`,
    'mcp-method': `method-${i}`,
  }
  for (const url of [`/nowhere-${i}`, `/v1/traces/id-${i}`, `/@slug-${i}/id-${i}?q=${i}`, `/%${i}`, `/v1/${i}/x`])
    await node.app.inject({ method: method as 'GET', url, headers })
  await node.app.inject({ method: 'POST', url: `/mcp?${i}`, headers, payload: { method: `method-${i}` } })
  await node.app.inject({ url: `/v1/feed?limit=${i}`, headers: { ...headers, ...bearer(`token-${i}`) } })
}

test('their labels are words of the service, so that strangers cannot make more series', async () => {
  const seriesOf = async () => (await ask({})).body.split('\n').filter((line) => /^tracebook_[a-z_]+\{/.test(line))
  for (let i = 0; i < 34; i++) await strange(i)
  const before = new Set((await seriesOf()).map((line) => line.replace(/ \S+$/, '')))
  for (let i = 34; i < 102; i++) await strange(i)
  const after = (await seriesOf()).map((line) => line.replace(/ \S+$/, ''))
  assert.equal(
    after.filter((series) => !before.has(series)),
    [],
  )
  const methods = new Set(after.flatMap((series) => /method="(\w+)"/.exec(series)?.[1] ?? []))
  assert.equal([...methods].sort(), ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'other'])
})

test.run()
