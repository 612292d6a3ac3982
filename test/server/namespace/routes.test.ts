import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identityId, namespaceId, sha256 } from '../../../src/base/ids.ts'
import { metadataOf } from '../../../src/eventstore/log/metadata.ts'
import type { InviteView, PublicInvite } from '../../../src/contract/invites.ts'
import type { MemberView } from '../../../src/contract/members.ts'
import type { NamespaceInfo } from '../../../src/contract/namespaces.ts'
import type { NewSession } from '../../../src/contract/sessions.ts'
import { createNamespace } from '../../../src/server/namespace/decide.ts'
import { isReserved, normalizeSlug } from '../../../src/server/namespace/slug.ts'
import { refresh } from '../../../src/server/user/decide.ts'
import { all } from '../../eventstore/log/support/events.ts'
import { type Caller, callerOf, openWorld, signIn } from '../../support/world.ts'

const test = suite('namespace routes')
const HOUR = 60 * 60 * 1_000
const clock = { now: Date.UTC(2026, 0, 1) }
const { node } = await openWorld(test, { now: () => clock.now })
const { service } = node

const visitor = callerOf(node)
const [ada, bob, eve] = [await signIn(node, 'ada'), await signIn(node, 'bob'), await signIn(node, 'eve')]

const found = async (slug: string, more: object = {}) => {
  const { data } = await ada.ask('POST', '/v1/namespaces', { slug, displayName: 'An org', ...more })
  return (data as { namespace: NamespaceInfo }).namespace
}
const invite = async (slug: string, body: object = {}) =>
  (await ada.send<{ invite: InviteView }>('POST', `/v1/namespaces/${slug}/invites`, body)).invite
const listed = async (slug: string) =>
  (await ada.send<{ invites: InviteView[] }>('GET', `/v1/namespaces/${slug}/invites`)).invites
const accept = (guest: Caller, code: string) => guest.ask('POST', `/v1/invites/${code}/accept`)

const unstorable = 'NUL \0, half \ud83d, "__proto__"'

test('texts are returned as they were sent', async () => {
  const made = await found('texts', { displayName: unstorable, description: unstorable, id: 'mine', role: 'member' })
  assert.equal([made.displayName, made.description, made.role, made.type], [unstorable, unstorable, 'admin', 'org'])
  assert.is.not(made.id, 'mine')
  const read = await ada.ask('GET', '/v1/namespaces/TEXTS')
  assert.equal(read.data, { namespace: made })
  const changed = await ada.ask('PATCH', '/v1/namespaces/texts', { description: '' })
  assert.equal(changed.data, { namespace: { ...made, description: '' } })
  const { data } = await ada.ask('GET', '/v1/namespaces')
  assert.ok((data as { namespaces: NamespaceInfo[] }).namespaces.some(({ description }) => description === ''))
  const { members } = await ada.send<{ members: MemberView[] }>('GET', '/v1/namespaces/texts/members')
  assert.equal(members, [{ user: { id: ada.userId }, role: 'admin', joinedAt: clock.now }])
})

test('members see for how many days traces are kept, which admins change', async () => {
  await found('keeps')
  const patch = (retentionDays: unknown, { ask } = ada) => ask('PATCH', '/v1/namespaces/keeps', { retentionDays })
  const shown = async (reader: Caller = visitor) =>
    (await reader.send<{ namespace: NamespaceInfo }>('GET', '/v1/namespaces/keeps')).namespace.retentionDays
  assert.is(await shown(ada), undefined)
  const { data } = await patch(30)
  assert.is((data as { namespace: NamespaceInfo }).namespace.retentionDays, 30)
  await accept(bob, (await invite('keeps')).code)
  assert.equal([await shown(ada), await shown(bob), await shown(eve), await shown()], [30, 30, undefined, undefined])
  const { data: all } = await bob.ask('GET', '/v1/namespaces')
  const mine = (all as { namespaces: NamespaceInfo[] }).namespaces.find(({ slug }) => slug === 'keeps')
  assert.is(mine?.retentionDays, 30)
  assert.equal([(await patch(1, bob)).status, (await patch(1, eve)).status], [403, 403])
  for (const wrong of [0, -1, 1.5, 36_501, '30', true]) assert.is((await patch(wrong)).status, 400, String(wrong))
  await ada.ask('PATCH', '/v1/namespaces/keeps', { displayName: 'Renamed' })
  assert.is(await shown(ada), 30)
  assert.is((await patch(36_500)).status, 200)
  await patch(null)
  assert.is(await shown(ada), undefined)
})

test('unknown slugs and ids are a 404, keys that cannot be stored a 400', async () => {
  for (const [path, status] of [
    ['nowhere', 404],
    ['a--b', 404],
    ['%20', 404],
    ['%00', 400],
  ] as const) {
    for (const rest of ['', '/members', '/invites']) {
      assert.is((await ada.ask('GET', `/v1/namespaces/${path}${rest}`)).status, status, `${path}${rest}`)
    }
  }
  assert.is((await ada.ask('PATCH', '/v1/namespaces/nowhere', {})).status, 404)
  assert.is((await visitor.ask('GET', '/v1/invites/000000000')).status, 404)
  assert.is((await visitor.ask('GET', '/v1/invites/%00')).status, 400)
})

test('a slug that is taken, reserved or not well formed is a 400 that names the field', async () => {
  await found('taken')
  for (const slug of ['taken', ' Taken', 'admin', 'a--b', '-', 'ä', 'half \ud83d', '']) {
    const { status, error } = await eve.ask('POST', '/v1/namespaces', { slug, displayName: 'x' })
    assert.is(status, 400, slug)
    assert.ok('slug' in (error as unknown as { details: { fieldErrors: object } }).details.fieldErrors)
  }
})

/** The paths of all routes, which Fastify prints as a tree: each line continues a line before it that is less indented. */
const allPaths = async (): Promise<string[]> => {
  await node.app.ready()
  const lines = [...node.app.printRoutes({ commonPrefix: false }).matchAll(/^([ │]*)[├└]── (\S+)/gm)]
  const parents: string[] = []
  return lines.map(([, indent, rest]) => {
    const depth = indent!.length / 4
    parents[depth] = `${depth === 0 ? '' : parents[depth - 1]}${rest}`
    return parents[depth]
  })
}

test('every first path segment of the service is reserved, unless it cannot be a slug', async () => {
  const segments = [...new Set((await allPaths()).map((path) => path.split('/')[1] ?? ''))]
  for (const known of ['v1', 'mcp', 'docs', 'settings']) assert.ok(segments.includes(known), segments.join(' '))
  const free = segments.filter((segment) => normalizeSlug(segment) !== undefined && !isReserved(segment))
  assert.equal(free, [])
})

test('a namespace keeps a slug that was reserved later', async () => {
  const terms = { slug: 'mcp', displayName: 'Older', type: 'org', createdBy: ada.userId } as const
  await service.write(service.namespaces, namespaceId('mcp'), { decide: createNamespace(terms) }, {})
  const asked = async (method: 'GET' | 'PATCH', url: string, body?: object) => (await ada.ask(method, url, body)).status
  assert.is(await asked('GET', '/v1/namespaces/mcp'), 200)
  assert.is(await asked('PATCH', '/v1/namespaces/mcp', { displayName: 'Still here' }), 200)
  assert.is(await asked('GET', '/v1/namespaces/mcp/traces'), 200)
  const page = await visitor.open('/@mcp')
  assert.is(page.statusCode, 200)
})

test('anybody may see a namespace, but only its members see its members', async () => {
  const { slug } = await found('closed')
  for (const rest of ['members', 'invites']) {
    assert.is((await eve.ask('GET', `/v1/namespaces/${slug}/${rest}`)).status, 403)
    assert.is((await visitor.ask('GET', `/v1/namespaces/${slug}/${rest}`)).status, 401)
  }
})

test('an invite shows its state, and who accepted it', async () => {
  const { slug, id } = await found('stateful')
  const made = await invite(slug, { maxUses: 2, role: 'admin' })
  assert.match(made.code, /^[A-Za-z0-9]{9}$/)
  const { code } = made
  const since = { createdAt: clock.now, expiresAt: clock.now + 24 * HOUR }
  const terms = { code, namespaceId: id, invitedBy: ada.userId, role: 'admin', ...since, maxUses: 2 }
  assert.equal(made, { ...terms, useCount: 0, state: 'pending' })
  const joined = (await accept(bob, code)).data as { namespace: NamespaceInfo }
  assert.equal([joined.namespace.slug, joined.namespace.role], [slug, 'admin'])
  const accepted = { acceptedAt: clock.now, acceptedBy: bob.userId }
  clock.now += HOUR
  assert.is((await accept(eve, code)).status, 200)
  assert.equal(await listed(slug), [{ ...terms, ...accepted, useCount: 2, state: 'accepted' }])
  const shown = await visitor.send<{ invite: PublicInvite }>('GET', `/v1/invites/${code}`)
  const namespace = { slug, displayName: 'An org' }
  assert.equal(shown.invite, { namespace, role: 'admin', expiresAt: made.expiresAt, state: 'accepted' })
})

test('an invite expires after a day', async () => {
  const { slug } = await found('expiring')
  const { code } = await invite(slug)
  clock.now += 24 * HOUR
  const { status, error } = await accept(bob, code)
  assert.equal([status, error.code], [410, 'invite_expired'])
  assert.is((await listed(slug))[0]!.state, 'expired')
})

test('a clock that was ahead for a moment does not prolong an invite', async () => {
  const { id, slug } = await found('ahead')
  const [real, ahead] = [clock.now, clock.now + 366 * 24 * HOUR]
  clock.now = ahead
  const again = await signIn(node, 'ada')
  await again.ask('PATCH', `/v1/namespaces/${slug}`, { displayName: 'Ahead' })
  clock.now = real
  const { code, expiresAt, createdAt } = await invite(slug)
  assert.equal([createdAt, expiresAt], [ahead, real + 24 * HOUR])
  const other = await invite(slug, { maxUses: 0 })
  assert.is((await accept(bob, other.code)).status, 200)
  clock.now += 24 * HOUR
  assert.equal([(await accept(eve, code)).error.code, (await listed(slug))[0]!.state], ['invite_expired', 'expired'])
  const times = (await all(service.log.read(`namespace-${id}`))).map((event) => metadataOf(event).at)
  assert.equal(times, [real, real, ahead, ahead, ahead, ahead])
})

/** What a provider says of the address of a user who signed in by a device. */
const learn = async (deviceId: string, email: string, emailVerified = true) => {
  const decide = refresh({ email, emailVerified })
  const id = identityId('device', sha256(deviceId))
  await service.visible((await service.identities.transact(id, { decide, answer: () => {} }, {})).position)
}

test('an invite for an e-mail address is only for a user who has verified it', async () => {
  const { slug } = await found('bound')
  const { code } = await invite(slug, { email: 'Bob@Example.org' })
  assert.is((await accept(bob, code)).status, 403)
  await learn('bob', 'bob@example.ORG', false)
  assert.is((await accept(bob, code)).status, 403)
  await learn('bob', 'bob@example.ORG')
  assert.is((await accept(eve, code)).status, 403)
  assert.is((await accept(bob, code)).status, 200)
})

test('an invite for an e-mail address is not for one that only Unicode lower case makes equal', async () => {
  const { slug } = await found('kelvin')
  const { code } = await invite(slug, { email: 'kevin@example.org' })
  await learn('eve', '\u212Aevin@example.org')
  assert.is((await accept(eve, code)).status, 403)
  await learn('eve', 'KEVIN@example.org')
  assert.is((await accept(eve, code)).status, 200)
})

test('the invites of a removed member are revoked', async () => {
  const { slug } = await found('leaving')
  await accept(bob, (await invite(slug, { role: 'admin' })).code)
  const made = await bob.ask('POST', `/v1/namespaces/${slug}/invites`, { maxUses: 0 })
  const { code } = (made.data as { invite: InviteView }).invite
  const remove = (user: NewSession) => ada.ask('DELETE', `/v1/namespaces/${slug}/members/${user.userId}`)
  assert.equal((await remove(bob)).data, { removed: true })
  assert.is((await remove(bob)).status, 404)
  assert.equal((await accept(eve, code)).error.code, 'invite_revoked')
  const last = await remove(ada)
  assert.equal([last.status, last.error.code], [409, 'last_admin'])
})

test('a removed or demoted member cannot use an older invite, even when the state is no longer cached', async () => {
  await found('risen')
  const old = await invite('risen', { role: 'admin', maxUses: 0 })
  const path = (userId: string) => `/v1/namespaces/risen/members/${userId}`
  for (const user of [bob, eve]) assert.is((await accept(user, old.code)).status, 200)
  await ada.ask('DELETE', path(bob.userId))
  await ada.ask('PATCH', path(eve.userId), { role: 'member' })
  assert.is(((await accept(eve, old.code)).data as { namespace: NamespaceInfo }).namespace.role, 'member')
  await eve.ask('DELETE', path(eve.userId))
  for (const forget of [() => {}, () => service.namespaces.clear()]) {
    forget()
    for (const user of [bob, eve]) assert.is((await accept(user, old.code)).error.code, 'forbidden')
  }
  assert.is((await listed('risen'))[0]!.useCount, 2)
  const later = await invite('risen', { role: 'admin', maxUses: 0 })
  for (const user of [bob, eve]) assert.is((await accept(user, later.code)).status, 200)
})

test('the answer to a changed role is the member', async () => {
  const { slug } = await found('roles')
  await accept(bob, (await invite(slug)).code)
  await bob.ask('PATCH', '/v1/user', { displayName: unstorable })
  const change = (userId: string, role: string) =>
    ada.ask('PATCH', `/v1/namespaces/${slug}/members/${userId}`, { role })
  const user = { id: bob.userId, displayName: unstorable }
  const member = { user, role: 'admin', invitedBy: ada.userId, joinedAt: clock.now }
  assert.equal((await change(bob.userId, 'admin')).data, { member })
  assert.is((await change(eve.userId, 'admin')).status, 404)
  assert.is((await change('nobody', 'admin')).status, 404)
  assert.is((await change(bob.userId, 'owner')).status, 400)
})

test('numbers beyond what an invite can count are refused', async () => {
  const { slug } = await found('numbers')
  const url = `/v1/namespaces/${slug}/invites`
  for (const maxUses of [-1, 1.5, 2 ** 53]) {
    assert.is((await ada.ask('POST', url, { maxUses })).status, 400)
  }
  assert.is((await invite(slug, { maxUses: Number.MAX_SAFE_INTEGER })).maxUses, Number.MAX_SAFE_INTEGER)
})

test.run()
