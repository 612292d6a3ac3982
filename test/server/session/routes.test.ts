import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identityId, namespaceId, newId, sha256, userId } from '../../../src/base/ids.ts'
import { claimNamespace } from '../../../src/server/namespace/decide.ts'
import { start as startSession, switchTo } from '../../../src/server/session/decide.ts'
import { signUp } from '../../../src/server/session/sign-up.ts'
import type { CurrentSession, SessionView } from '../../../src/contract/sessions.ts'
import { createIdentity, createUser } from '../../../src/server/user/decide.ts'
import { openTwoNodes } from '../../support/two-nodes.ts'
import { signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('session routes')
const DAY = 24 * 60 * 60 * 1_000
const { clock, node: app, other } = await openTwoNodes(test)
const { call, service } = app

const start = (deviceId: string, more: { deviceName?: string; namespaceId?: string } = {}, node = app) =>
  signIn(node, deviceId, more)
const current = async (token: string, node = app) =>
  (await node.call('GET', '/v1/session', { token })).data as CurrentSession
const head = () => service.log.head()
const since = (after: bigint) => typesSince(service.log, after)

test('concurrent first calls on two nodes create one user', async () => {
  const nodes = [app, other, app, other]
  const made = await Promise.all(nodes.map((node) => start('racer', {}, node)))
  for (const { userId, namespaceSlug, role } of made) {
    assert.is(userId, made[0]!.userId)
    assert.is(namespaceSlug, made[0]!.namespaceSlug)
    assert.is(role, 'admin')
  }
  for (const { token } of made)
    for (const node of nodes) assert.is((await current(token, node)).user.id, made[0]!.userId)
})

test('a known device needs one append', async () => {
  await start('known')
  const before = await head()
  await start('known', { deviceName: 'laptop' })
  assert.equal(await since(before), ['SessionCreated'])
})

test('a new user takes the name of the first call, which later calls do not change', async () => {
  const body = { deviceId: 'names its user', displayName: 'Ada' }
  const first = await call('POST', '/v1/session', { body })
  assert.is(first.status, 200)
  const again = await call('POST', '/v1/session', { body: { ...body, displayName: 'Eve' } })
  for (const { data } of [first, again])
    assert.is((await current((data as { session: { token: string } }).session.token)).user.displayName, 'Ada')
  for (const displayName of ['', 'x'.repeat(257), 1])
    assert.is((await call('POST', '/v1/session', { body: { ...body, displayName } })).status, 400)
})

test('a refused first call appends nothing', async () => {
  const { namespaceId: taken } = await start('owner')
  const before = await head()
  for (const [wanted, code] of [
    [taken, 'forbidden'],
    [namespaceId('nowhere'), 'not_found'],
    ['NUL \0 and half \ud83d', 'not_found'],
    ['', 'not_found'],
  ]) {
    const body = { deviceId: 'stranger', namespaceId: wanted }
    assert.is((await call('POST', '/v1/session', { body })).error.code, code, JSON.stringify(wanted))
  }
  assert.equal(await since(before), [])
})

test('a first call that broke off is continued when it is repeated', async () => {
  const key = sha256('broken')
  const identity = { id: identityId('device', key), type: 'device', key, profile: {} } as const
  const user = userId(identity.id)
  const broken = {
    ...service,
    identities: { ...service.identities, transact: () => Promise.reject(new Error('killed')) },
  }
  const error = await signUp(broken, identity, undefined).catch((reason: Error) => reason)
  assert.is((error as Error).message, 'killed')
  const { transact } = service.users
  assert.is((await transact(user, { decide: createUser(), answer: (state) => state.is }, {})).answer, 'present')
  const session = await start('broken')
  assert.is(session.userId, user)
  const { data } = await call('GET', '/v1/namespaces', { token: session.token })
  assert.is((data as { namespaces: unknown[] }).namespaces.length, 1)
})

test('if the slug is taken, the next suffix is used', async () => {
  const { namespaceSlug } = await start('first')
  const key = sha256('first')
  const terms = { slug: namespaceSlug!, displayName: 'x', type: 'individual', createdBy: 'somebody' } as const
  const claim = service.namespaces.transact(
    namespaceId(namespaceSlug!),
    { decide: claimNamespace(terms), answer: () => {} },
    {},
  )
  assert.is(((await claim.catch((error: { code: string }) => error)) as { code: string }).code, 'slug_taken')
  const transact: typeof service.namespaces.transact = (id, command, context) => {
    if (id !== namespaceId(namespaceSlug!)) return service.namespaces.transact(id, command, context)
    const taking = { ...command, decide: claimNamespace(terms) } as typeof command
    return service.namespaces.transact(id, taking, context)
  }
  const taken = { ...service, namespaces: { ...service.namespaces, transact } }
  const identity = { id: identityId('device', key), type: 'device', key, profile: {} } as const
  assert.is((await signUp(taken, identity, undefined)).active?.slug, `${namespaceSlug}-2`)
})

test('a new user and their namespace have the name that was chosen at the sign-up', async () => {
  const key = sha256('named')
  const identity = { id: identityId('device', key), type: 'device', key, profile: {} } as const
  await signUp(service, identity, undefined, undefined, { displayName: 'Ada' })
  const { user, namespace } = await current((await start('named')).token)
  assert.equal([user.displayName, namespace?.displayName], ['Ada', 'Ada'])
})

test('an identity that now belongs to another user signs in as that user', async () => {
  const key = sha256('linked')
  const identity = { id: identityId('device', key), type: 'device', key, profile: {} } as const
  const decide = createIdentity({ userId: userId('other'), type: 'device', key })
  await service.identities.transact(identity.id, { decide, answer: () => {} }, {})
  assert.equal(await signUp(service, identity, undefined), { userId: userId('other'), active: undefined })
})

test('a session expires, even while it is cached', async () => {
  const { token, expiresAt } = await start('expiring')
  assert.is(expiresAt, clock.now + 90 * DAY)
  assert.is((await current(token)).session.expiresAt, expiresAt)
  clock.now += 90 * DAY
  assert.is((await call('GET', '/v1/session', { token })).status, 401)
})

test('sessions are listed, with the current one marked, and ended', async () => {
  const [a, b] = [await start('lists', { deviceName: 'NUL \0, half \ud83d' }), await start('lists')]
  const list = async () =>
    ((await call('GET', '/v1/sessions', { token: a.token })).data as { sessions: SessionView[] }).sessions
  const found = await list()
  assert.equal(found.map(({ id }) => id).sort(), [a.id, b.id].sort())
  const mine = found.find(({ id }) => id === a.id)!
  assert.equal([mine.current, mine.deviceName, mine.lastUsedAt], [true, 'NUL \0, half \ud83d', clock.now])
  assert.not.ok('lastUsedAt' in found.find(({ id }) => id === b.id)!)
  const end = (id: string, token: string) => call('DELETE', `/v1/sessions/${id}`, { token })
  assert.is((await end(b.id, a.token)).status, 200)
  assert.is((await end(b.id, a.token)).status, 404)
  assert.is((await end(a.id, (await start('eve')).token)).status, 404)
  assert.is((await end('no-uuid', a.token)).status, 404)
  assert.equal(
    (await list()).map(({ id }) => id),
    [a.id],
  )
  assert.equal((await call('DELETE', '/v1/session', { token: a.token })).data, { revoked: true })
  assert.is((await call('GET', '/v1/session', { token: a.token })).status, 401)
})

test('a session that was written with a clock far ahead can be switched and ended', async () => {
  const { token, userId, namespaceId } = await start('ahead')
  const [id, real] = [newId(), clock.now]
  const terms = { userId, identityId: userId, tokenHash: 'hash of none', expiresAt: real + DAY }
  clock.now += 366 * DAY
  await service.sessions.transact(id, { decide: startSession(terms), answer: () => {} }, {})
  clock.now = real
  await service.sessions.transact(id, { decide: switchTo(userId, namespaceId!), answer: () => {} }, {})
  const end = async () => (await call('DELETE', `/v1/sessions/${id}`, { token })).status
  assert.is(await end(), 200)
  assert.is(await end(), 404)
  const { data } = await call('GET', '/v1/sessions', { token })
  assert.not.ok((data as { sessions: SessionView[] }).sessions.some((session) => session.id === id))
})

test('a session switches by id and by slug, to namespaces of its user', async () => {
  const { token, id, userId, namespaceSlug } = await start('switcher')
  const made = await call('POST', '/v1/namespaces', { token, body: { slug: 'Switched', displayName: 'S' } })
  const { namespace } = made.data as { namespace: { id: string; slug: string } }
  const to = (body: object) => call('POST', '/v1/session/switch', { token, body })
  assert.equal((await to({ slug: ' SWITCHED ' })).data, { user: { id: userId }, namespace, session: { id } })
  assert.is((await current(token)).session.namespaceSlug, 'switched')
  assert.is((await to({ slug: namespaceSlug })).status, 200)
  assert.is((await to({ namespaceId: namespace.id })).status, 200)
  assert.is((await current(token)).namespace?.id, namespace.id)
  const { namespaceId: foreign } = await start('stranger 2')
  for (const [body, status] of [
    [{}, 400],
    [{ slug: 5 }, 400],
    [{ slug: 'half \ud83d' }, 400],
    [{ slug: 'no slug' }, 404],
    [{ slug: 'nowhere' }, 404],
    [{ namespaceId: 'nowhere' }, 404],
    [{ namespaceId: foreign }, 403],
  ] as const) {
    assert.is((await to(body)).status, status, JSON.stringify(body))
  }
})

test('a revoked session ends on the other node too', async () => {
  const { token } = await start('two nodes')
  await current(token, other)
  await call('DELETE', '/v1/session', { token })
  const status = async () => (await other.call('GET', '/v1/session', { token })).status
  await until(async () => (await status()) === 401)
})

test.run()
