import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identityId, sha256 } from '../../../src/base/ids.ts'
import { refresh } from '../../../src/server/user/decide.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('user routes')
const { node } = await openWorld(test)
const { service } = node

const { userId, ask, send } = await signIn(node, 'ada')
const patch = (body: unknown) => ask('PATCH', '/v1/user', body)

test('a user has no name until it takes one', async () => {
  const user = { id: userId }
  assert.equal((await ask('GET', '/v1/user')).data, { user })
  assert.equal((await patch({})).data, { user })
  const displayName = 'NUL \0, half \ud83d'
  assert.equal((await patch({ displayName, id: 'x' })).data, { user: { ...user, displayName } })
  assert.equal((await ask('GET', '/v1/user')).data, { user: { ...user, displayName } })
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
  const identities = () => send('GET', '/v1/user/identities')
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
  const name = (body: unknown) => ask('PATCH', `/v1/user/identities/${id}`, body)
  const text = 'my laptop \0, half \ud83d'
  const { status, data } = await name({ name: text })
  assert.equal([status, (data as { identity: { name: string } }).identity.name], [200, text])
  const { identities } = await send<{ identities: object[] }>('GET', '/v1/user/identities')
  assert.equal(identities, [(data as { identity: object }).identity])
  const before = await service.log.head()
  await name({ name: text })
  assert.equal(await typesSince(service.log, before), [])
  for (const body of [{ name: 5 }, { name: '' }, {}, null]) assert.is((await name(body)).status, 400)
})

test.run()
