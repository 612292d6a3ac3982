import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('what caches may keep')
const { node, openNode } = await openWorld(test)
const { app } = node

const { token, namespaceSlug: slug, headers: bearer, newTrace } = await signIn(node, 'ada')
await newTrace({ visibility: 'public' }, [], 'open')

const get = async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).headers
const cookie = { cookie: `tracebook=${token}` }

test('no cache may keep an answer with a token', async () => {
  const { headers } = await app.inject({ method: 'POST', url: '/v1/session', payload: { deviceId: 'ada' } })
  assert.is(headers['cache-control'], 'no-store')
  assert.is((await get('/v1/session', cookie))['cache-control'], 'no-store', 'it holds the CSRF token')
})

test('no cache may keep an answer to a query, whose body may have a token', async () => {
  const payload = { query: 'feed:getNamespaceTraces', args: { authToken: token } }
  for (const headers of [{}, bearer]) {
    const answer = await app.inject({ method: 'POST', url: '/v1/query', payload, headers })
    assert.equal([answer.statusCode, answer.headers['cache-control']], [200, 'no-store'])
  }
})

const reads = ['/v1/feed', '/v1/traces/open', '/v1/traces/open/messages', `/v1/namespaces/${slug}/traces`]

test('only the cache of the caller may keep an answer to a caller', async () => {
  for (const url of [...reads, '/v1/traces', '/v1/session', '/v1/sessions', `/v1/namespaces/${slug}/members`])
    for (const how of [bearer, cookie]) {
      const headers = await get(url, how)
      assert.match(String(headers['cache-control']), /private|no-store/, url)
      assert.match(String(headers.vary), /authorization, cookie/, url)
    }
})

test('an answer without a token varies with the token', async () => {
  for (const url of [...reads, '/v1/traces']) {
    const headers = await get(url)
    assert.match(String(headers.vary), /authorization, cookie/, url)
    assert.ok([undefined, 'no-cache'].includes(headers['cache-control'] as string | undefined), url)
  }
})

test('an answer still varies with a trusted origin', async () => {
  const { app: trusting } = await openNode({ env: { CORS_ORIGINS: 'https://app.example.org' } })
  const { headers } = await trusting.inject({ url: '/v1/feed', headers: { origin: 'https://app.example.org' } })
  assert.match(String(headers.vary), /origin.*authorization, cookie/i)
})

test.run()
