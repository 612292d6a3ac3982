import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newToken } from '../../../src/server/session/tokens.ts'
import { onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { openWorld } from '../../support/world.ts'

const test = suite('limits over HTTP')
const env = {
  RATE_LIMITS: 'on',
  RATE_LIMIT_DEVICE_SESSIONS: '3',
  RATE_LIMIT_INVITE_LOOKUPS: '2',
  RATE_LIMIT_SEARCHES: '6',
  RATE_LIMIT_WRITES: '4',
  RATE_LIMIT_READS: '40',
  RATE_LIMIT_ANONYMOUS_READS: '20',
  RATE_LIMIT_UNAUTHORIZED: '10',
  TRUST_PROXY: '10.0.0.1',
}
const { database, node, openNode } = await openWorld(test, { env })
const other = await openNode()

/** As a proxy that is believed, or somebody who says they are one. */
const ask = ({ app }: App, url: string, client: string, body?: object, remoteAddress = '10.0.0.1') =>
  app.inject({
    method: body ? 'POST' : 'GET',
    url,
    remoteAddress,
    headers: { 'x-forwarded-for': client },
    ...(body ? { payload: body } : {}),
  })

test('nodes share one count for each address', async () => {
  const start = async (on: App, client: string) =>
    (await ask(on, '/v1/session', client, { deviceId: `the device of ${client}` })).statusCode
  const statuses = [await start(node, '192.0.2.1'), await start(other, '192.0.2.1'), await start(node, '192.0.2.1')]
  assert.equal(statuses, [200, 200, 200])
  const refused = await ask(other, '/v1/session', '192.0.2.1', { deviceId: 'yet another device' })
  assert.is(refused.statusCode, 429)
  assert.is(refused.json().error.code, 'rate_limited')
  const seconds = Number(refused.headers['retry-after'])
  assert.ok(seconds >= 1 && seconds <= 60)
  assert.is(await start(node, '192.0.2.1'), 429)
  assert.is(await start(node, '192.0.2.2'), 200)
})

test('a client that is not a trusted proxy cannot set its address', async () => {
  const look = async (client: string) =>
    (await ask(node, '/v1/invites/000000000', client, undefined, '198.51.100.9')).statusCode
  assert.equal([await look('192.0.2.10'), await look('192.0.2.11'), await look('192.0.2.12')], [404, 404, 429])
})

test('searches while a reader types take no more than a half of those of an address without a session', async () => {
  const search = async (isTyped: boolean, token?: string) => {
    const headers = {
      'x-forwarded-for': '192.0.2.7',
      ...(isTyped ? { 'x-typed': 'yes' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    const url = isTyped ? '/search/hits?q=x' : '/v1/search?q=x'
    return (await node.app.inject({ url, remoteAddress: '10.0.0.1', headers })).statusCode
  }
  const inTurn = async (...all: readonly boolean[]) => {
    const statuses: number[] = []
    for (const isTyped of all) statuses.push(await search(isTyped))
    return statuses
  }
  assert.equal(await inTurn(true, true, true, true, true), [200, 200, 200, 429, 429])
  assert.equal(await inTurn(false, false, false, false), [200, 200, 200, 429])
  const { token } = (await ask(node, '/v1/session', '192.0.2.7', { deviceId: 'the device of a typist' })).json().data
    .session
  for (let i = 0; i < 7; i++) assert.is(await search(true, token), 200)
})

test('a session that writes too much has to wait, but may still read', async () => {
  const { token } = (await ask(node, '/v1/session', '192.0.2.3', { deviceId: 'the device of a busy one' })).json().data
    .session
  const write = () => node.call('PATCH', '/v1/user', { token, body: {} })
  for (let i = 0; i < 4; i++) assert.is((await write()).status, 200)
  assert.is((await write()).status, 429)
  assert.is((await node.call('GET', '/v1/user', { token })).status, 200)
})

test('an address that reads too much without a session has to wait; its sessions and probes do not', async () => {
  const { token } = (await ask(node, '/v1/session', '192.0.2.4', { deviceId: 'the device of a reader' })).json().data
    .session
  const urls = ['/v1/feed', '/openapi.json', '/v1/traces/none', '/nowhere']
  const statuses: number[] = []
  for (let i = 0; i < 20; i++) statuses.push((await ask(node, urls[i % 4]!, '192.0.2.4')).statusCode)
  assert.equal([...new Set(statuses)].sort(), [200, 404])
  for (const url of urls) {
    const refused = await ask(node, url, '192.0.2.4')
    assert.equal([refused.statusCode, refused.json().error.code], [429, 'rate_limited'], url)
    assert.ok(Number(refused.headers['retry-after']) >= 1)
  }
  for (const url of ['/health', '/health/ready']) assert.is((await ask(node, url, '192.0.2.4')).statusCode, 200, url)
  assert.is((await ask(node, '/metrics', '192.0.2.4')).statusCode, 401)
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.4' }
  const own = await node.app.inject({ url: '/v1/feed', remoteAddress: '10.0.0.1', headers })
  assert.is(own.statusCode, 200)
  assert.is((await ask(node, '/v1/feed', '192.0.2.5')).statusCode, 200)
})

test('an address with too many invalid tokens has to wait; tokens that were valid there before still work', async () => {
  const client = '192.0.2.6'
  const signIn = async (deviceId: string) =>
    (await ask(node, '/v1/session', client, { deviceId })).json().data.session.token as string
  const [known, unseen] = [await signIn('the first of two devices'), await signIn('the second of two devices')]
  const send = async (method: 'GET' | 'POST', url: string, token?: string, from = client) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const headers = { 'x-forwarded-for': from, ...authorization }
    const payload = method === 'POST' ? { payload: {} } : {}
    return (await node.app.inject({ method, url, remoteAddress: '10.0.0.1', headers, ...payload })).statusCode
  }
  for (let i = 0; i < 12; i++) assert.is(await send('GET', '/v1/user', known), 200)
  const requests = [
    ['GET', '/v1/user', newToken],
    ['POST', '/v1/traces', newToken],
    ['POST', '/v1/traces', () => 'no token of ours'],
    ['POST', '/v1/traces', () => undefined],
    ['GET', '/v1/feed', newToken],
  ] as const
  for (let i = 0; i < 10; i++) {
    const [method, url, token] = requests[i % 5]!
    assert.is(await send(method, url, token()), url === '/v1/feed' ? 200 : 401)
  }
  for (const [method, url, token] of requests) assert.is(await send(method, url, token()), 429, `${method} ${url}`)
  assert.is(await send('GET', '/v1/user', unseen), 429)
  const query = { query: 'feed:getPublicTraces', args: { authToken: newToken() } }
  const refused = await ask(node, '/v1/query', client, query)
  assert.is(refused.statusCode, 429)
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.is(await send('GET', '/v1/user', known), 200)
  assert.is(await send('GET', '/v1/feed'), 200)
  assert.is(await send('GET', '/v1/user', unseen, '192.0.2.7'), 200)
  assert.is(await send('GET', '/v1/user', unseen), 200)
})

test('a token among the arguments of a query counts as an attempt', async () => {
  const query = async (authToken: string) => {
    const args = { externalId: 'none', authToken }
    return (await ask(node, '/v1/query', '192.0.2.8', { query: 'traces:get', args })).statusCode
  }
  for (let i = 0; i < 10; i++) assert.is(await query(newToken()), 200)
  assert.is(await query(newToken()), 429)
})

test('an IPv6 /64 is one address', async () => {
  const read = async (i: number) => (await ask(node, '/v1/feed', `2001:db8:1:1::${i}`)).statusCode
  for (let i = 0; i < 20; i++) assert.is(await read(i), 200)
  assert.is(await read(99), 429)
  assert.is((await ask(node, '/v1/feed', '2001:db8:1:2::1')).statusCode, 200)
})

test('without the shared table each node counts for itself', async () => {
  await onServer(database.url, 'alter table tracebook.rate_limits rename to away')
  const look = async () => (await ask(node, '/v1/invites/000000000', '192.0.2.20')).statusCode
  assert.equal([await look(), await look(), await look()], [404, 404, 429])
  await onServer(database.url, 'alter table tracebook.away rename to rate_limits')
})

test.run()
