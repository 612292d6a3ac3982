import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NamespaceInfo } from '../../../src/contract/namespaces.ts'
import { onServer } from '../../support/database.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { jpeg, png, webp } from '../../support/pictures.ts'

const test = suite('avatars')
const HOUR = 60 * 60 * 1_000
const clock = { now: Date.UTC(2026, 0, 1) }
const { database, node } = await openWorld(test, { now: () => clock.now })
const { app } = node

const [ada, bob] = [await signIn(node), await signIn(node)]
const slug = ada.namespaceSlug
const url = `/v1/namespaces/${slug}/avatar`

const put = (payload: Buffer | undefined, { token }: { token: string } = ada, type = 'image/png', to = url) => {
  const headers = { authorization: `Bearer ${token}`, ...(payload ? { 'content-type': type } : {}) }
  return app.inject({ method: 'PUT', url: to, headers, ...(payload ? { payload } : {}) })
}

test('a namespace without an avatar answers 404', async () => {
  assert.is((await app.inject({ url })).statusCode, 404)
  assert.is((await app.inject({ url: '/v1/namespaces/nowhere/avatar' })).statusCode, 404)
})

for (const [bytes, type] of [
  [png, 'image/png'],
  [jpeg, 'image/jpeg'],
  [webp, 'image/webp'],
] as const) {
  test(`a ${type} is served as what it is, whatever it was sent as`, async () => {
    const { statusCode, body } = await put(bytes, ada, 'application/octet-stream')
    assert.is(statusCode, 200, body)
    const { namespace } = JSON.parse(body).data as { namespace: NamespaceInfo }
    assert.is(namespace.role, 'admin')
    const { rawPayload, headers } = await app.inject({ url: namespace.avatarUrl! })
    assert.ok(rawPayload.equals(bytes))
    assert.is(headers['content-type'], type)
    assert.is(headers['x-content-type-options'], 'nosniff')
    assert.is(headers['content-security-policy'], "default-src 'none'; sandbox")
    assert.match(String(headers['cache-control']), 'immutable')
    const plain = await app.inject({ url })
    assert.is(plain.headers['cache-control'], 'public, no-cache')
    const known = await app.inject({ url, headers: { 'if-none-match': `"x", W/${headers.etag}` } })
    assert.equal([known.statusCode, known.body], [304, ''])
  })
}

test('the same picture again changes nothing', async () => {
  const count = async () => (await onServer(database.url, 'select from tracebook.avatars')).rowCount
  await put(png)
  const before = await count()
  assert.is((await put(png)).statusCode, 200)
  assert.is(await count(), before)
})

test('a body that is not a picture, or is too large, is refused', async () => {
  for (const bytes of [undefined, Buffer.from('{}'), Buffer.from('<svg/>')]) {
    const { statusCode, body } = await put(bytes, ada, 'application/json')
    assert.equal([statusCode, JSON.parse(body).error.code], [400, 'invalid_request'])
  }
  const large = await put(Buffer.concat([png, Buffer.alloc(512 * 1024)]))
  assert.equal([large.statusCode, large.json().error.code], [413, 'payload_too_large'])
  assert.is((await put(Buffer.concat([png, Buffer.alloc(512 * 1024 - png.length)]))).statusCode, 200)
})

test('only an admin uploads an avatar', async () => {
  assert.is((await put(png, bob)).statusCode, 403)
  assert.is((await put(png, { token: 'tb_nobody' })).statusCode, 401)
  assert.is((await put(png, ada, 'image/png', '/v1/namespaces/nowhere/avatar')).statusCode, 404)
})

test('other routes accept no pictures', async () => {
  const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'image/png' }
  const answer = await app.inject({ method: 'PATCH', url: '/v1/user', headers, payload: png })
  assert.is(answer.statusCode, 400)
})

test('replaced pictures are deleted after an hour, when no upload can still refer to them', async () => {
  const types = async () => (await onServer(database.url, 'select type from tracebook.avatars order by type')).rows
  await put(jpeg)
  assert.ok((await types()).length > 1)
  clock.now += HOUR + 1
  await put(webp)
  assert.equal(await types(), [{ type: 'image/webp' }])
})

test.run()
