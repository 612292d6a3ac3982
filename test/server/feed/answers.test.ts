import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('feed: answers from the cache')
const { node, openNode } = await openWorld(test)
const { app } = node
const { token, send, newTrace } = await signIn(node)
for (const visibility of ['public', 'private']) await newTrace({ title: visibility, visibility }, [], visibility)

const ask = async (url = '/v1/feed', more: Record<string, string> = {}) => {
  const { statusCode, headers, body } = await app.inject({ url, headers: { 'x-request-id': 'r-1', ...more } })
  const { date, ...others } = headers
  assert.ok(date)
  return { status: statusCode, headers: others as Record<string, string>, body, titles: titlesOf(body) }
}

const titlesOf = (body: string) =>
  ((JSON.parse(body) as { data?: { traces: { title: string }[] } }).data?.traces ?? []).map(({ title }) => title)

test('have all that the answer has that was put there', async () => {
  const [made, kept] = [await ask(), await ask()]
  assert.equal(kept, made)
  const { 'content-length': length, ...headers } = kept.headers
  assert.is(Number(length), Buffer.byteLength(kept.body))
  assert.equal(headers, {
    'x-request-id': 'r-1',
    'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'etag, x-request-id, retry-after, x-log-position',
    vary: 'authorization, cookie',
    'content-type': 'application/json; charset=utf-8',
    connection: 'keep-alive',
  })
  assert.equal(await ask('/v1/feed', { origin: 'https://other.example' }), made)
  assert.equal(await ask('/v1/feed?limit=50'), made)
})

test('are for callers without a session alone', async () => {
  for (const header of [{ authorization: `Bearer ${token}` }, { cookie: `tracebook=${token}` }]) {
    const { titles, headers } = await ask('/v1/feed', header)
    assert.equal([titles.sort(), headers['cache-control']], [['private', 'public'], 'private'])
  }
  for (const header of [{ authorization: 'Bearer none' }, { cookie: 'tracebook=none' }, { cookie: 'other=1' }])
    assert.equal((await ask('/v1/feed', header)).titles, ['public'])
})

test('are not given to a foreign host', async () => {
  await ask()
  const { status, headers } = await ask('/v1/feed', { host: 'evil.example' })
  assert.equal([status, headers['access-control-allow-origin']], [403, '*'])
})

test('do not show a trace that is not public any more', async () => {
  assert.equal((await ask()).titles, ['public'])
  await send('PUT', '/v1/traces/public', { visibility: 'private' })
  assert.equal((await ask()).titles, [])
})

test('are counted by the limit', async () => {
  const limited = await openNode({ env: { RATE_LIMITS: 'on', RATE_LIMIT_ANONYMOUS_READS: '2' } })
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await limited.app.inject({ url: '/v1/feed' })).statusCode)
  assert.equal(statuses, [200, 200, 429])
})

test.run()
