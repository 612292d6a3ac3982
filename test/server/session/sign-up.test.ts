import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sha256 } from '../../../src/base/ids.ts'
import type { NamespaceInfo } from '../../../src/contract/namespaces.ts'
import type { UserView } from '../../../src/contract/user.ts'
import type { MemberView } from '../../../src/contract/members.ts'
import { signIn } from '../../../src/server/session/sign-in.ts'
import type { NewSession, SlugRefused } from '../../../src/contract/sessions.ts'
import { newApiClient } from '../../../src/client/api/client.ts'
import { logInWithDevice } from '../../../src/client/login/device-login.ts'
import { LOOPBACK, openWithProvider } from '../signin/support/world.ts'
import type { App } from '../../support/open-app.ts'
import { signIn as signInByDevice } from '../../support/world.ts'
import { typesSince } from '../../support/types-since.ts'
import { until } from '../../support/until.ts'

const test = suite('who may sign up')
const world = await openWithProvider(test, (url) => ({ CODEHOST_ISSUER: url }))
const { provider, clock, openNode } = world
/** Nodes of one service, each with a mode of its own. */
const open = world.node
const [invited, off] = [await openNode({ env: { SIGN_UP: 'invited' } }), await openNode({ env: { SIGN_UP: 'off' } })]

type Tried = { readonly status: number; readonly code: string | undefined; readonly session: NewSession }

/** What a first call asks for. */
type More = { readonly inviteCode?: string; readonly slug?: string; readonly displayName?: string }

const byDevice = async (
  node: App,
  deviceId: string,
  more: More & { readonly joinCode?: string } = {},
): Promise<Tried> => {
  const { status, data, error } = await node.call('POST', '/v1/session', { body: { deviceId, ...more } })
  return { status, code: error?.code, session: (data as { session: NewSession } | undefined)?.session as never }
}

/** As somebody at the code host, on a device. */
const byCodehost = async (node: App, deviceId: string, more: More = {}): Promise<Tried> => {
  const { slug, displayName, ...atStart } = more
  const body = { deviceId, redirectTo: LOOPBACK, ...atStart }
  const started = (await node.call('POST', '/v1/auth/start', { body })).data as { state: string; authorizeUrl: string }
  const page = await node.app.inject({ url: await world.consent(started) })
  const arrived = page.statusCode === 200 ? await world.answer(page, 'yes', {}, node) : page
  const exchangeCode = new URL(arrived.headers.location!).searchParams.get('exchangeCode')!
  const codes = { state: started.state, exchangeCode }
  const done = await node.call('POST', '/v1/auth/complete', { body: { ...codes, slug, displayName } })
  const { session } = (done.data ?? {}) as { session: NewSession }
  return { status: done.status, code: done.error?.code, session }
}

const person = (id: string, emailVerified = true) => {
  provider.account = { id, login: `login-${id}`, name: `Name of ${id}`, email: `${id}@example.org`, emailVerified }
}

const owner = await signInByDevice(open, 'owner')
const team = `/v1/namespaces/${(await owner.newTeam('team')).slug}`
const invite = async (body: object = {}) =>
  (await owner.send<{ invite: { code: string } }>('POST', `${team}/invites`, body)).invite.code
const useCount = async (code: string) => {
  const { invites } = await owner.send<{ invites: { code: string; useCount: number }[] }>('GET', `${team}/invites`)
  return invites.find((one) => one.code === code)!.useCount
}
const isMember = async ({ userId }: NewSession) => {
  const { members } = await owner.send<{ members: MemberView[] }>('GET', `${team}/members`)
  return members.some(({ user }) => user.id === userId)
}
/** The name and the namespaces of a user. */
const describe = async ({ token }: NewSession) => {
  const { user } = (await open.call('GET', '/v1/user', { token })).data as { user: UserView }
  const { namespaces } = (await open.call('GET', '/v1/namespaces', { token })).data as { namespaces: NamespaceInfo[] }
  return { name: user.displayName, slugs: namespaces.map(({ slug }) => slug) }
}
const head = () => world.service.log.head()
const since = (after: bigint) => typesSince(world.service.log, after)

for (const [way, signIn] of [
  ['device', byDevice],
  ['code host', byCodehost],
] as const) {
  const fresh = (() => {
    let count = 0
    return () => {
      count += 1
      person(`${way.length}${count}`)
      return `${way} ${count}`
    }
  })()

  test(`by ${way}: if sign-up is open anybody may sign up, with an invite or without`, async () => {
    assert.is((await signIn(open, fresh())).status, 200)
    const inviteCode = await invite()
    const { status, session } = await signIn(open, fresh(), { inviteCode })
    assert.equal([status, await isMember(session), await useCount(inviteCode)], [200, true, 1])
  })

  test(`by ${way}: a known user signs in whatever the mode, and spends no invite`, async () => {
    const deviceId = fresh()
    const { session } = await signIn(open, deviceId)
    const inviteCode = await invite()
    for (const node of [invited, off, open]) {
      for (const more of [{}, { inviteCode }, { inviteCode: 'not-known' }]) {
        const again = await signIn(node, deviceId, more)
        assert.equal([again.status, again.session.userId], [200, session.userId])
      }
    }
    assert.is(await useCount(inviteCode), 0)
  })

  test(`by ${way}: without a valid invite nobody new signs up, and nothing is stored`, async () => {
    const before = await head()
    assert.equal(await refusedWith(invited, fresh()), [403, 'forbidden'])
    assert.equal(await refusedWith(invited, fresh(), { inviteCode: 'not-known' }), [403, 'forbidden'])
    assert.equal(await refusedWith(open, fresh(), { inviteCode: 'not-known' }), [403, 'forbidden'])
    assert.equal(await since(before), [])
  })

  test(`by ${way}: if sign-up is closed an invite does not help`, async () => {
    const inviteCode = await invite()
    const before = await head()
    assert.equal(await refusedWith(off, fresh()), [403, 'forbidden'])
    assert.equal(await refusedWith(off, fresh(), { inviteCode }), [403, 'forbidden'])
    assert.equal(await since(before), [])
  })

  test(`by ${way}: an invite lets in as many users as it has uses, each as a member, also one who repeats the request`, async () => {
    const inviteCode = await invite({ maxUses: 2 })
    const deviceId = fresh()
    const { status, session } = await signIn(invited, deviceId, { inviteCode })
    assert.equal([status, await isMember(session), session.role], [200, true, 'admin'])
    assert.is((await signIn(invited, deviceId, { inviteCode })).session.userId, session.userId)
    assert.is((await signIn(invited, fresh(), { inviteCode })).status, 200)
    const before = await head()
    assert.equal(await refusedWith(invited, fresh(), { inviteCode }), [410, 'invite_used'])
    assert.equal([await since(before), await useCount(inviteCode)], [[], 2])
  })

  test(`by ${way}: an invite that has ended lets nobody in`, async () => {
    const [revoked, expired] = [await invite(), await invite()]
    await open.call('DELETE', `/v1/namespaces/team/invites/${revoked}`, { token: owner.token })
    const before = await head()
    assert.equal(await refusedWith(invited, fresh(), { inviteCode: revoked }), [410, 'invite_revoked'])
    const now = clock.now
    clock.now += 25 * 60 * 60 * 1_000
    assert.equal(await refusedWith(invited, fresh(), { inviteCode: expired }), [410, 'invite_expired'])
    clock.now = now
    assert.equal(await since(before), [])
  })

  test(`by ${way}: a new user has the name and the slug that the first call asks for, and keeps them`, async () => {
    const [deviceId, slug] = [fresh(), `ada-${way.length}`]
    const { session } = await signIn(open, deviceId, { displayName: 'Ada', slug: ` ${slug.toUpperCase()} ` })
    assert.equal([session.namespaceSlug, session.slugRefused], [slug, undefined])
    for (const asked of [{ displayName: 'Eve', slug: `eve-${way.length}` }, { slug: '--' }, { slug: 'team' }, {}]) {
      const { session: again } = await signIn(open, deviceId, asked)
      assert.equal([again.namespaceSlug, again.slugRefused], [slug, undefined])
    }
    assert.equal(await describe(session), { name: 'Ada', slugs: [slug] })
  })

  for (const [slug, reason] of [
    ['team', 'taken'],
    [' Admin', 'reserved'],
    ['a--b', 'invalid'],
    ['ä', 'invalid'],
    ['x'.repeat(65), 'invalid'],
  ] as const)
    test(`by ${way}: a slug that is ${reason} (${slug}) is said, and a generated one taken`, async () => {
      const { status, session } = await signIn(open, fresh(), { slug })
      assert.equal([status, session.slugRefused], [200, { slug, reason }])
      assert.match(session.namespaceSlug!, /^user-[0-9a-f]{8}$/)
      assert.equal((await describe(session)).slugs, [session.namespaceSlug])
    })

  const refusedWith = async (node: App, deviceId: string, more: More = {}) => {
    const { status, code } = await signIn(node, deviceId, more)
    return [status, code]
  }
}

test('an invite for an e-mail address is only for a user whose code host has verified it', async () => {
  const inviteCode = await invite({ email: 'Grace@example.org' })
  const before = await head()
  assert.equal((await byDevice(invited, 'no address', { inviteCode })).status, 403)
  for (const [id, isVerified] of [
    ['grace', false],
    ['eve', true],
  ] as const) {
    person(id, isVerified)
    assert.is((await byCodehost(invited, `device of ${id}`, { inviteCode })).status, 403)
  }
  assert.equal(await since(before), [])
  person('grace')
  const { status, session } = await byCodehost(invited, 'device of grace', { inviteCode })
  assert.equal([status, await isMember(session)], [200, true])
})

test('a known device adds a new identity without an invite', async () => {
  const { session } = await byDevice(open, 'has a user')
  person('new identity')
  assert.is((await byCodehost(off, 'has a user')).session.userId, session.userId)
})

test('of several people who race for the last use of an invite one signs up, and nothing is stored for the others', async () => {
  const inviteCode = await invite()
  const before = await head()
  const tried = await Promise.all([1, 2, 3, 4, 5].map((i) => byDevice(invited, `racer ${i}`, { inviteCode })))
  assert.equal(tried.map(({ status }) => status).sort(), [200, 410, 410, 410, 410])
  const types = await since(before)
  assert.equal(types.filter((type) => type === 'UserCreated').length, 1)
  assert.equal(types.filter((type) => type === 'NamespaceCreated').length, 1)
})

test('concurrent first calls of one invited device create one user and spend one use', async () => {
  const inviteCode = await invite({ maxUses: 3 })
  const tried = await Promise.all([1, 2, 3, 4].map(() => byDevice(invited, 'impatient', { inviteCode })))
  assert.is(new Set(tried.map(({ session }) => session.userId)).size, 1)
  assert.is(await useCount(inviteCode), 1)
})

/** The steps of a sign-up behind the acceptance of its invite. */
const STEPS = ['the user', 'the namespace', 'the identity', 'the session'] as const
const dies = () => Promise.reject(new Error('killed'))

/** Signs a device up in a process that dies before a step. */
const dieBefore = async (step: (typeof STEPS)[number], deviceId: string, inviteCode: string, person: More = {}) => {
  const { service } = invited
  const { namespaces, users, identities } = service
  let appends = 0
  const transact: typeof namespaces.transact = (...args) => (appends++ === 0 ? namespaces.transact(...args) : dies())
  const broken = {
    'the namespace': { namespaces: { ...namespaces, transact } },
    'the user': { users: { ...users, transact: dies } },
    'the identity': { identities: { ...identities, transact: dies } },
    'the session': { write: dies },
  }[step]
  const credential = { type: 'device', key: sha256(deviceId), profile: {} } as const
  const options = { namespaceId: undefined, deviceName: undefined, inviteCode, requestId: undefined, ...person }
  const failed = signIn({ ...service, ...broken }, { credential, ...options }).catch((error: Error) => error)
  assert.is(((await failed) as Error).message, 'killed')
}
const membersOf = async () => {
  const { data } = await open.call('GET', '/v1/namespaces/team/members', { token: owner.token })
  return (data as { members: MemberView[] }).members
}

const endings: Record<string, (code: string) => unknown> = {
  'while the invite is open': () => {},
  'once it is revoked': (code) => open.call('DELETE', `/v1/namespaces/team/invites/${code}`, { token: owner.token }),
  'once it has expired': () => (clock.now += 25 * 60 * 60 * 1_000),
}
for (const step of STEPS) {
  for (const [when, end] of Object.entries(endings)) {
    test(`a sign-up that breaks off before ${step} is continued when it is repeated ${when}`, async () => {
      const [inviteCode, deviceId] = [await invite(), `dies before ${step} ${when}`]
      const before = await head()
      await dieBefore(step, deviceId, inviteCode)
      await end(inviteCode)
      const { status, session } = await byDevice(invited, deviceId, { inviteCode })
      assert.equal([status, await isMember(session), await useCount(inviteCode)], [200, true, 1])
      const made = (await since(before)).filter((type) => type.endsWith('Created'))
      assert.equal(made.sort(), ['IdentityCreated', 'NamespaceCreated', 'SessionCreated', 'UserCreated'])
    })
  }
}

for (const step of STEPS.slice(0, 3)) {
  test(`a sign-up that breaks off before ${step} and is not repeated leaves a member without a name, whom an admin can remove`, async () => {
    const [inviteCode, deviceId] = [await invite(), `never comes back from ${step}`]
    const others = new Set((await membersOf()).map(({ user }) => user.id))
    await dieBefore(step, deviceId, inviteCode)
    assert.is((await byDevice(invited, `other for ${step}`, { inviteCode })).code, 'invite_used')
    const left = await until(async () => (await membersOf()).find(({ user }) => !others.has(user.id)))
    assert.equal(Object.keys(left.user), ['id'])
    const removal = await open.call('DELETE', `/v1/namespaces/team/members/${left.user.id}`, { token: owner.token })
    assert.is(removal.status, 200)
    assert.is((await byDevice(invited, deviceId, { inviteCode })).code, 'invite_used')
    assert.is((await byDevice(invited, deviceId, { inviteCode: await invite() })).status, 200)
  })
}

/** What calls ask for, and what is refused to the last one; `slugs` are those of the user's namespaces in the end. */
const repetitions: readonly { first: More; then: More; slug: RegExp; refused?: SlugRefused }[] = [
  { first: { slug: 'same-SLUG' }, then: { slug: 'same-SLUG' }, slug: /^same-/ },
  { first: { slug: 'first-SLUG' }, then: { slug: 'second-SLUG' }, slug: /^first-/ },
  { first: { slug: 'some-SLUG' }, then: {}, slug: /^some-/ },
  { first: { slug: 'one-SLUG' }, then: { slug: '--' }, slug: /^one-/ },
  { first: {}, then: { slug: 'late-SLUG' }, slug: /^user-/ },
  { first: { slug: 'team' }, then: { slug: 'team' }, slug: /^user-/, refused: { slug: 'team', reason: 'taken' } },
  { first: { slug: 'team' }, then: { slug: 'free-SLUG' }, slug: /^user-/ },
]
for (const step of STEPS)
  for (const { first, then, slug, refused } of repetitions)
    test(`a sign-up that asks for ${first.slug ?? 'no slug'} and breaks off before ${step} makes one namespace when it is repeated with ${then.slug ?? 'none'}`, async () => {
      const deviceId = [step, first.slug, then.slug].join()
      const inStep = ({ slug }: More) => (slug === undefined ? {} : { slug: slug.replace('SLUG', step.slice(4)) })
      const inviteCode = await invite()
      const before = await head()
      await dieBefore(step, deviceId, inviteCode, { ...inStep(first), displayName: 'First' })
      const { session } = await byDevice(invited, deviceId, { ...inStep(then), displayName: 'Then', inviteCode })
      const isBegun = step !== 'the user'
      if (isBegun) assert.match(session.namespaceSlug!, slug)
      if (isBegun) assert.equal(session.slugRefused, refused)
      assert.equal((await since(before)).filter((type) => type === 'NamespaceCreated').length, 1)
      assert.is((await describe(session)).name, isBegun ? 'First' : 'Then')
    })

test('of two first calls of one device with different slugs both get the same namespace', async () => {
  const before = await head()
  const asked = ['left', 'right', 'left', 'right']
  const nodes = [open, invited, open, invited]
  const inviteCode = await invite()
  const tried = await Promise.all(asked.map((slug, i) => byDevice(nodes[i]!, 'torn', { slug, inviteCode })))
  assert.is(new Set(tried.map(({ session }) => session.namespaceId)).size, 1)
  assert.ok(asked.includes(tried[0]!.session.namespaceSlug!))
  assert.equal((await since(before)).filter((type) => type === 'NamespaceCreated').length, 1)
  for (const { session } of tried) assert.is(session.slugRefused, undefined)
})

test('of several devices that ask for the same slug one gets it, and the others are told', async () => {
  const tried = await Promise.all([1, 2, 3, 4].map((i) => byDevice(open, `wants it ${i}`, { slug: 'wanted' })))
  const [winners, others] = [true, false].map((isWinner) =>
    tried.filter(({ session }) => (session.namespaceSlug === 'wanted') === isWinner),
  ) as [Tried[], Tried[]]
  assert.equal([winners.length, winners[0]!.session.slugRefused], [1, undefined])
  for (const { session } of others) assert.equal(session.slugRefused, { slug: 'wanted', reason: 'taken' })
})

test('a device that joins has the name and the namespace of its user', async () => {
  const { session } = await byDevice(open, 'joined', { displayName: 'Ada', slug: 'joined' })
  const { code } = (await open.call('POST', '/v1/session/device', { token: session.token })).data as { code: string }
  const { session: joins } = await byDevice(open, 'joins', { joinCode: code, displayName: 'Eve', slug: '--' })
  assert.equal([joins.userId, joins.namespaceSlug, joins.slugRefused], [session.userId, 'joined', undefined])
  assert.equal(await describe(joins), { name: 'Ada', slugs: ['joined'] })
})

test('a slug or a name of another type is not valid, and nothing is stored', async () => {
  const before = await head()
  for (const wrong of [{ slug: 1 }, { slug: '' }, { slug: 'NUL\0' }, { displayName: {} }, { displayName: '' }])
    assert.is((await byDevice(open, 'wrong', wrong as More)).status, 400)
  assert.equal(await since(before), [])
})

test('a new user of the code host has the name that the person has there, but no e-mail address', async () => {
  for (const [login, name, shown] of [
    ['ada', 'Ada Lovelace', 'Ada Lovelace'],
    ['grace', undefined, 'grace'],
    ['eve@example.org', undefined, undefined],
    ['long', 'x'.repeat(257), 'long'],
  ] as const) {
    provider.account = { id: `account of ${login}`, login, ...(name === undefined ? {} : { name }) }
    const { session } = await byCodehost(open, `new device of ${login}`)
    assert.is((await describe(session)).name, shown)
    assert.match(session.namespaceSlug!, /^user-/)
  }
})

test('the command line sends an invite', async () => {
  const url = await invited.app.listen({ host: '127.0.0.1', port: 0 })
  const config = await mkdtemp(join(tmpdir(), 'tracebook-sign-up-'))
  const refusal = await logInWithDevice(config, url, newApiClient).catch((error: Error) => error.message)
  assert.match(String(refusal), 'only new users with an invite')
  const { userId } = await logInWithDevice(config, url, newApiClient, await invite())
  assert.is((await logInWithDevice(config, url, newApiClient)).userId, userId)
  await rm(config, { recursive: true })
})

test.run()
