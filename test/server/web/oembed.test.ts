import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('web: oEmbed')
const { node } = await sharedWorld()
const { app, call } = node

const { token, namespaceSlug } = await signIn(node, 'the-device-of-the-author')
const put = (id: string, visibility: string) =>
  call('PUT', `/v1/traces/${encodeURIComponent(id)}`, {
    token,
    body: { visibility, title: `Title of ${id}`, agentId: 'claude-code', modelName: 'unused' },
  })

const HOST = 'localhost:3000'
const look = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/oembed?url=${encodeURIComponent(url)}`, headers: { host: HOST, ...headers } })
const linkTo = (id: string) => `http://${HOST}/@${namespaceSlug}/${encodeURIComponent(id)}`

test('the answer for a public session has its title, agent and link', async () => {
  await put('a/b c', 'public')
  const { statusCode, body } = await look(`${linkTo('a/b c')}?m=message-1`)
  assert.is(statusCode, 200)
  assert.equal(JSON.parse(body), {
    version: '1.0',
    type: 'link',
    title: 'Title of a/b c',
    author_name: 'Claude Code',
    provider_name: 'Tracebook',
    provider_url: `http://${HOST}/`,
    url: linkTo('a/b c'),
  })
})

test('its author is the person who has a name, and of a sub-agent an agent', async () => {
  await call('PATCH', '/v1/user', { token, body: { displayName: 'Ada' } })
  await put('named', 'public')
  const authorOf = async (id: string) =>
    (JSON.parse((await look(linkTo(id))).body) as { author_name: string }).author_name
  assert.is(await authorOf('named'), 'Ada')
  await call('PATCH', '/v1/traces/named', { token, body: { parentExternalId: 'another' } })
  assert.is(await authorOf('named'), 'Claude Code')
})

test('a session that is not public answers 404, like one that does not exist, even to its readers', async () => {
  await put('private', 'private')
  await put('direct', 'direct')
  for (const id of ['private', 'direct', 'nothing'])
    for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
      const { statusCode, body } = await look(linkTo(id), headers)
      assert.is(statusCode, 404, id)
      assert.not.match(body, 'Title')
    }
})

test('a session that has become private answers 404 at once', async () => {
  await put('fleeting', 'public')
  assert.is((await look(linkTo('fleeting'))).statusCode, 200)
  await put('fleeting', 'private')
  assert.is((await look(linkTo('fleeting'))).statusCode, 404)
})

test('addresses of other services, and other formats, are refused', async () => {
  assert.is((await look('https://elsewhere.example.org/@a/b')).statusCode, 404)
  assert.is((await look('nothing')).statusCode, 404)
  const { statusCode, body } = await app.inject({ url: '/oembed?url=x&format=xml', headers: { host: HOST } })
  assert.is(statusCode, 400)
  assert.match(body, 'must be `json`')
})

test.run()
