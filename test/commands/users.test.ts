import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { identityId } from '../../src/base/ids.ts'
import { createIdentity } from '../../src/server/user/decide.ts'
import { logEnvironment } from '../support/log-place.ts'
import type { App } from '../support/open-app.ts'
import { until } from '../support/until.ts'
import { newWorld, signIn } from '../support/world.ts'
import { documentsIn } from './support/documents.ts'
import { type Variables, inTemporary, run } from './support/user.ts'

const test = suite('tracebook users, and namespaces --all')

type Person = { readonly id: string; readonly token: string; readonly slug: string; readonly device: string }

const personBy = async (node: App, device: string): Promise<Person> => {
  const { token, userId: id, namespaceSlug: slug } = await signIn(node, device)
  return { id, token, slug, device }
}

const named = async ({ call }: App, person: Person, displayName: string) => {
  await call('PATCH', '/v1/user', { token: person.token, body: { displayName } })
  return person
}

const invite = async ({ call }: App, { token }: Person): Promise<string> => {
  const { data } = await call('POST', '/v1/namespaces/team/invites', { token, body: { maxUses: 9 } })
  return (data as { invite: { code: string } }).invite.code
}

/** Ada, who runs a team; Bob, another admin of it, who also signs in by an account; and Carol, a member. */
const inTeam = (
  work: (team: {
    nodes: readonly [App, App]
    tracebook: Tracebook
    people: readonly [Person, Person, Person]
  }) => Promise<unknown>,
) =>
  inTemporary(async () => {
    const { database, node, openNode, close } = await newWorld()
    const environment = { DATABASE_URL: database.url, ...logEnvironment(database.url) }
    try {
      const nodes = [node, await openNode({ env: { ROLES: 'api', SIGN_UP: 'invited' } })] as const
      const ada = await personBy(node, 'device-of-ada-0001')
      const bob = await named(node, await personBy(node, 'device-of-bob-0001'), 'Bob')
      const carol = await personBy(node, 'device-of-carol-01')
      const key = 'a'.repeat(64)
      const account = { userId: bob.id, type: 'codehost', key, email: 'bob@example.org', emailVerified: true } as const
      const decide = createIdentity({ ...account, providerData: { login: 'bob' } })
      await node.service.identities.transact(identityId('codehost', key), { decide, answer: () => {} }, {})
      await node.call('POST', '/v1/namespaces', { token: ada.token, body: { slug: 'team', displayName: 'The team' } })
      const code = await invite(node, ada)
      for (const { token } of [bob, carol])
        assert.is((await node.call('POST', `/v1/invites/${code}/accept`, { token, body: {} })).status, 200)
      const toAdmin = { token: ada.token, body: { role: 'admin' } }
      assert.is((await node.call('PATCH', `/v1/namespaces/team/members/${bob.id}`, toAdmin)).status, 200)
      const message = { token: bob.token, body: { role: 'user', textContent: 'Much' } }
      await node.call('PUT', '/v1/traces/his?namespace=team', { token: bob.token, body: { title: 'His' } })
      assert.is((await node.call('PUT', '/v1/traces/his/messages/m', message)).status, 200)
      const tracebook: Tracebook = (args, more = {}) => run(args, { ...environment, ...more })
      await work({ nodes, tracebook, people: [ada, bob, carol] })
    } finally {
      await close()
    }
  })

type Tracebook = (args: readonly string[], more?: Variables) => ReturnType<typeof run>

test('lists who is there, how they sign in, where they are members, and what they have uploaded', () =>
  inTeam(async ({ tracebook, people: [ada, bob, carol] }) => {
    const { how, out, err } = await tracebook(['users', '--json'])
    assert.equal([how, err], [0, ''])
    const documents = documentsIn(out)
    const ids = documents.map(({ user }) => (user as { id: string }).id)
    assert.equal([ids[0], [...ids].sort()], [bob.id, [ada.id, bob.id, carol.id].sort()], 'who has the most comes first')
    const [{ type, user, identities, namespaces, traces, bytes }] = documents as unknown as [
      Record<string, unknown>,
      ...Record<string, unknown>[],
    ]
    assert.equal([type, user, traces], ['user', { id: bob.id, displayName: 'Bob' }, 1])
    assert.ok((bytes as number) > 0)
    assert.equal(
      (identities as { type: string; login?: string; email?: string }[]).map(({ type, login, email }) => [
        type,
        login,
        email,
      ]),
      [
        ['device', undefined, undefined],
        ['codehost', 'bob', 'bob@example.org'],
      ],
    )
    assert.equal(
      (namespaces as { slug: string; role: string }[]).map(({ slug, role }) => [slug, role]),
      [
        [bob.slug, 'admin'],
        ['team', 'admin'],
      ],
    )
    const table = await tracebook(['users'])
    assert.match(
      table.out,
      new RegExp(`\nBob +bob <bob@example.org>, 1 device +${bob.slug}, team .* 1 +\\d+  ${bob.id}\n`),
    )
    assert.not.match(table.out, bob.device)
  }))

test('takes a user out: sessions end on all nodes, memberships and invites too, and the log says so', () =>
  inTeam(async ({ nodes, tracebook, people: [ada, bob] }) => {
    const [node, other] = nodes
    const code = await invite(node, bob)
    const unasked = await tracebook(['users', 'remove', bob.id])
    assert.is(unasked.how, 2)
    assert.match(unasked.err, '--yes')
    assert.is((await tracebook(['users', 'remove', 'ffffffff', '--yes'])).how, 2)
    assert.is((await tracebook(['users', 'remove', bob.id.slice(0, 3), '--yes'])).how, 2)
    assert.is((await node.call('GET', '/v1/user', { token: bob.token })).status, 200)

    const { how, out, err } = await tracebook(['users', 'remove', bob.id.slice(0, 18), '--yes', '--json'])
    assert.equal([how, err], [0, ''])
    const [{ identities, left, stays }] = documentsIn(out) as unknown as [
      Record<string, unknown>,
      ...Record<string, unknown>[],
    ]
    assert.is(identities, 2)
    assert.equal(
      (left as { slug: string }[]).map(({ slug }) => slug),
      ['team'],
    )
    assert.equal(
      (stays as { slug: string; others: number }[]).map(({ slug, others }) => [slug, others]),
      [[bob.slug, 0]],
    )
    for (const { call } of nodes)
      await until(async () => (await call('GET', '/v1/user', { token: bob.token })).status === 401)

    const { data } = await node.call('GET', '/v1/namespaces/team/members', { token: ada.token })
    assert.not.ok((data as { members: { user: { id: string } }[] }).members.some(({ user }) => user.id === bob.id))
    const invited = await node.call('GET', `/v1/invites/${code}`)
    assert.is((invited.data as { invite: { state: string } }).invite.state, 'revoked')
    const events = await node.call('GET', '/v1/namespaces/team/events?type=MemberRemoved', { token: ada.token })
    const [entry] = (events.data as { events: { text: string; actor?: unknown }[] }).events
    assert.match(entry!.text, / removed Bob from the namespace$/)
    assert.is(entry!.actor, undefined)
    assert.is((await node.call('GET', '/v1/traces/his', { token: ada.token })).status, 200, 'traces stay')

    const refused = await other.call('POST', '/v1/session', { body: { deviceId: bob.device } })
    assert.is(refused.status, 403, 'where nobody new may sign up, he is out')
    assert.is.not((await personBy(node, bob.device)).id, bob.id, 'elsewhere he is somebody new')

    const again = await tracebook(['users', 'remove', bob.id, '--yes'])
    assert.equal([again.how, again.err], [0, ''])
    assert.match(again.out, '0 ways to sign in and 0 memberships')
  }))

test('says of a namespace that the last admin was taken out of it', () =>
  inTeam(async ({ nodes: [node], tracebook, people: [ada, bob] }) => {
    await node.call('PATCH', `/v1/namespaces/team/members/${bob.id}`, { token: ada.token, body: { role: 'member' } })
    const { how, err } = await tracebook(['users', 'remove', ada.id, '--yes'])
    assert.is(how, 0)
    assert.is(err, 'The namespace "team" has lost its last admin and has 2 other members.\n')
  }))

test('namespaces --all lists what each holds, in percent of the quotas', () =>
  inTeam(async ({ tracebook, people: [ada, bob] }) => {
    const { how, out, err } = await tracebook(['namespaces', '--all', '--json'], {
      QUOTA_TRACES: '4',
      QUOTA_BYTES: '1',
    })
    assert.equal([how, err], [0, ''])
    const [{ type, namespace, members, traces, bytes }, ...others] = documentsIn(out) as unknown as [
      Record<string, unknown>,
      ...Record<string, unknown>[],
    ]
    const { slug, displayName } = namespace as { slug: string; displayName: string }
    assert.equal([type, slug, displayName, members], ['usage', 'team', 'The team', 3])
    assert.equal(traces, { used: 1, quota: 4, percent: 25 })
    const { used, percent } = bytes as { used: number; percent: number }
    assert.is(percent, used * 100)
    assert.equal(others.length, 3)
    const table = await tracebook(['namespaces', '--all'])
    assert.match(table.out, /^slug +name +type +members +traces +bytes\nteam +The team +org +3 +1 +\d+\n/)
    assert.match(table.out, new RegExp(`\n${ada.slug} .* 1 +0 +0\n`))
    assert.match(table.out, new RegExp(`\n${bob.slug} `))
    assert.match(
      (await tracebook(['namespaces', '--all'], { QUOTA_TRACES: '4' })).out,
      /members +traces +% +bytes\nteam .* 3 +1 +25 +\d+\n/,
    )
    const mixed = await tracebook(['namespaces', '--all', '--server', 'http://127.0.0.1:1'])
    assert.equal([mixed.how, mixed.out], [2, ''])
    const nowhere = await run(['namespaces', '--all'], { DATA_DIR: '/nowhere' })
    assert.is(nowhere.how, 2)
    assert.match(
      nowhere.err,
      '--all is for operators and reads the database of a service. No service is running on /nowhere',
    )
  }))

test.run()
