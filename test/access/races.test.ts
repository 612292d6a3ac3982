import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import type { MemberView } from '../../src/contract/members.ts'
import type { App } from '../support/open-app.ts'
import { type Person, callerOf, openWorld, signIn } from '../support/world.ts'
import { until } from '../support/until.ts'

const test = suite('races on two nodes')
const { node, openNode } = await openWorld(test)
const nodes = [node, await openNode()]
const urls = await Promise.all(nodes.map(({ app }) => app.listen({ port: 0, host: '127.0.0.1' })))

/** Asks over a socket, one node after the other. */
const over = (i: number): Pick<App, 'app' | 'call'> => ({
  app: nodes[i % nodes.length]!.app,
  call: async (method, path, { token, body } = {}) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${urls[i % urls.length]}${path}`, init)
    return { status: response.status, ...((await response.json()) as { data: never; error: never }) }
  },
})
const people = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => signIn(over(i), `${name}-${i}`)))
const count = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length
const inviteTo = async (slug: string, { send }: Person, body: object) =>
  (await send<{ invite: InviteView }>('POST', `/v1/namespaces/${slug}/invites`, body)).invite.code
const membersOf = async (slug: string, { token }: Person, at: App = node) =>
  (await callerOf(at, token).send<{ members: MemberView[] }>('GET', `/v1/namespaces/${slug}/members`)).members

for (const maxUses of [1, 3, 0]) {
  test(`of 24 acceptors of an invite for ${maxUses || 'all'} exactly as many join`, async () => {
    const admin = await signIn(node, 'inviter')
    const { slug } = await admin.newTeam(`racing-${maxUses}`)
    const code = await inviteTo(slug, admin, { maxUses })
    const racers = await people(`racer-${maxUses}`, 24)
    const answers = await Promise.all(racers.map(({ ask }) => ask('POST', `/v1/invites/${code}/accept`)))
    const statuses = answers.map(({ status }) => status)
    const joined = maxUses || 24
    assert.equal([count(statuses, 200), count(statuses, 410)], [joined, 24 - joined])
    assert.is((await membersOf(slug, admin)).length, joined + 1)
  })
}

test('when all admins demote each other and leave at once, one of them stays an admin', async () => {
  const admin = await signIn(node, 'first admin')
  const { slug } = await admin.newTeam('demoting')
  const others = await people('admin', 5)
  for (const other of others) await admin.admit(slug, other, 'admin')
  const all = [admin, ...others]
  const answers = await Promise.all(
    all.map(({ token, userId }, i) => {
      const url = `/v1/namespaces/${slug}/members/${userId}`
      const { ask } = callerOf(over(i), token)
      return i % 2 ? ask('DELETE', url) : ask('PATCH', url, { role: 'member' })
    }),
  )
  const statuses = answers.map(({ status }) => status)
  assert.equal([count(statuses, 200), count(statuses, 409)], [5, 1])
  const stays = all[statuses.indexOf(409)]!
  const admins = (await membersOf(slug, stays)).filter(({ role }) => role === 'admin')
  assert.equal(admins.map(({ user }) => user.id), [stays.userId]) // prettier-ignore
})

test('a slug that several users claim at once goes to one of them', async () => {
  const claimers = await people('claimer', 8)
  const body = { slug: 'wanted', displayName: 'Wanted' }
  const answers = await Promise.all(claimers.map(({ ask }) => ask('POST', '/v1/namespaces', body)))
  const statuses = answers.map(({ status }) => status)
  assert.equal([count(statuses, 200), count(statuses, 400)], [1, 7])
  const winner = claimers[statuses.indexOf(200)]!
  assert.equal((await membersOf('wanted', winner)).map(({ user }) => user.id), [winner.userId]) // prettier-ignore
})

test('first sessions of one device, all at once, make one user', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, i) => signIn(over(i), 'one device')))
  assert.is(new Set(made.map(({ userId }) => userId)).size, 1)
  assert.is(new Set(made.map(({ namespaceId }) => namespaceId)).size, 1)
  assert.is(new Set(made.map(({ token }) => token)).size, 8)
})

/** Asks until the answer is the one that is waited for. */
const untilAnswered = (ask: () => Promise<{ status: number }>, status: number) =>
  until(async () => (await ask()).status === status)

test('rights that are lost on one node are lost on the other node', async () => {
  const admin = await signIn(node, 'losing admin')
  const { slug, id: namespaceId } = await admin.newTeam('losing')
  const member = await signIn(node, 'losing member')
  await admin.admit(slug, member)
  const session = await signIn(node, 'losing member', { namespaceId })
  await admin.newTrace({}, [], 'lost')
  await admin.send('POST', '/v1/session/switch', { slug })
  await admin.newTrace({}, [], 'kept')
  const read = () => callerOf(over(1), session.token).ask('GET', '/v1/traces/kept')
  assert.is((await read()).status, 200)
  await admin.send('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`)
  await untilAnswered(read, 404)
  await member.send('DELETE', `/v1/sessions/${session.id}`)
  await untilAnswered(read, 401)
  assert.is((await session.ask('GET', '/v1/user')).status, 401)
})

test.run()
