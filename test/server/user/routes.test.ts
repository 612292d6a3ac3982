import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identityId, sha256 } from '../../../src/base/ids.ts'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { refresh } from '../../../src/server/user/decide.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('user routes')
const database = await freshDatabase()
const app = await openApp(database.url)
const { call, service } = app
test.after(async () => {
  await app.close()
  await database.drop()
})

const { token, userId } = (
  (await call('POST', '/v1/session', { body: { deviceId: 'ada' } })).data as { session: NewSession }
).session
const patch = (body: unknown) => call('PATCH', '/v1/user', { token, body })

test('a user has no name until it takes one', async () => {
  const user = { id: userId }
  assert.equal((await call('GET', '/v1/user', { token })).data, { user })
  assert.equal((await patch({})).data, { user })
  const displayName = 'NUL \0, half \ud83d'
  assert.equal((await patch({ displayName, id: 'x' })).data, { user: { ...user, displayName } })
  assert.equal((await call('GET', '/v1/user', { token })).data, { user: { ...user, displayName } })
})

test('the same name again appends nothing', async () => {
  await patch({ displayName: 'Ada' })
  const before = await service.log.head()
  await patch({ displayName: 'Ada' })
  assert.equal(await typesSince(service.log, before), [])
})

test('a name has to be a text', async () => {
  for (const body of [{ displayName: 5 }, { displayName: null }, null, []]) assert.is((await patch(body)).status, 400)
})

test("a device's id is never shown", async () => {
  const id = identityId('device', sha256('ada'))
  const identities = async () => (await call('GET', '/v1/user/identities', { token })).data as unknown
  assert.equal(await identities(), { identities: [{ id, type: 'device' }] })
  const profile = {
    providerData: { login: 'ada', avatarUrl: 'https://a.example.org/a.png' },
    email: 'a@b.org',
    emailVerified: true,
  }
  const { position } = await service.identities.transact(id, { decide: refresh(profile), answer: () => {} }, {})
  await service.visible(position)
  const { providerData, ...rest } = profile
  assert.equal(await identities(), { identities: [{ id, type: 'device', ...providerData, ...rest }] })
})

test('an identity is named, and the same name again appends nothing', async () => {
  const id = identityId('device', sha256('ada'))
  const name = (body: unknown) => call('PATCH', `/v1/user/identities/${id}`, { token, body })
  const text = 'my laptop \0, half \ud83d'
  const { status, data } = await name({ name: text })
  assert.equal([status, (data as { identity: { name: string } }).identity.name], [200, text])
  const { identities } = (await call('GET', '/v1/user/identities', { token })).data as { identities: object[] }
  assert.equal(identities, [(data as { identity: object }).identity])
  const before = await service.log.head()
  await name({ name: text })
  assert.equal(await typesSince(service.log, before), [])
  for (const body of [{ name: 5 }, { name: '' }, {}, null]) assert.is((await name(body)).status, 400)
})

test.run()
