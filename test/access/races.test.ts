import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { InviteView } from '../../src/contract/invites.ts'
import type { MemberView } from '../../src/contract/members.ts'
import type { NamespaceInfo } from '../../src/contract/namespaces.ts'
import type { NewSession } from '../../src/contract/sessions.ts'
import { freshDatabase } from '../support/database.ts'
import { type App, type Call, openApp } from '../support/open-app.ts'
import { until } from '../support/until.ts'

const test = suite('races on two nodes')
const database = await freshDatabase()
const nodes = await Promise.all([0, 1].map(() => openApp(database.url)))
const urls = await Promise.all(nodes.map(({ app }) => app.listen({ port: 0, host: '127.0.0.1' })))
const { call } = nodes[0]!
test.after(async () => {
  for (const { close } of nodes) await close()
  await database.drop()
})

/** Over a socket, on one node after the other. */
const over =
  (i: number): Call =>
  async (method, path, { token, body } = {}) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${urls[i % urls.length]}${path}`, init)
    return { status: response.status, ...((await response.json()) as { data: never; error: never }) }
  }
const start = async (deviceId: string, ask: Call = call) =>
  ((await ask('POST', '/v1/session', { body: { deviceId } })).data as { session: NewSession }).session
const people = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => start(`${name}-${i}`, over(i))))
const count = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length
const found = async (slug: string, { token }: NewSession) => {
  const { status, data } = await call('POST', '/v1/namespaces', { token, body: { slug, displayName: slug } })
  assert.is(status, 200)
  return (data as { namespace: NamespaceInfo }).namespace
}
const membersOf = async (slug: string, { token }: NewSession, node: App = nodes[0]!) =>
  ((await node.call('GET', `/v1/namespaces/${slug}/members`, { token })).data as { members: MemberView[] }).members

for (const maxUses of [1, 3, 0]) {
  test(`of 24 acceptors of an invite for ${maxUses || 'all'} exactly as many join`, async () => {
    const admin = await start('inviter')
    const { slug } = await found(`racing-${maxUses}`, admin)
    const body = { maxUses }
    const made = await call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body })
    const { code } = (made.data as { invite: InviteView }).invite
    const racers = await people(`racer-${maxUses}`, 24)
    const answers = await Promise.all(
      racers.map(({ token }, i) => over(i)('POST', `/v1/invites/${code}/accept`, { token })),
    )
    const statuses = answers.map(({ status }) => status)
    const joined = maxUses || 24
    assert.equal([count(statuses, 200), count(statuses, 410)], [joined, 24 - joined])
    assert.is((await membersOf(slug, admin)).length, joined + 1)
  })
}

test('when all admins demote each other and leave at once, one of them stays an admin', async () => {
  const admin = await start('first admin')
  const { slug } = await found('demoting', admin)
  const body = { maxUses: 0, role: 'admin' }
  const made = await call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body })
  const { code } = (made.data as { invite: InviteView }).invite
  const others = await people('admin', 5)
  for (const { token } of others) await call('POST', `/v1/invites/${code}/accept`, { token })
  const all = [admin, ...others]
  const answers = await Promise.all(
    all.map(({ token, userId }, i) => {
      const url = `/v1/namespaces/${slug}/members/${userId}`
      return i % 2 ? over(i)('DELETE', url, { token }) : over(i)('PATCH', url, { token, body: { role: 'member' } })
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
  const answers = await Promise.all(claimers.map(({ token }, i) => over(i)('POST', '/v1/namespaces', { token, body })))
  const statuses = answers.map(({ status }) => status)
  assert.equal([count(statuses, 200), count(statuses, 400)], [1, 7])
  const winner = claimers[statuses.indexOf(200)]!
  assert.equal((await membersOf('wanted', winner)).map(({ user }) => user.id), [winner.userId]) // prettier-ignore
})

test('first sessions of one device, all at once, make one user', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, (_, i) => start('one device', over(i))))
  assert.is(new Set(made.map(({ userId }) => userId)).size, 1)
  assert.is(new Set(made.map(({ namespaceId }) => namespaceId)).size, 1)
  assert.is(new Set(made.map(({ token }) => token)).size, 8)
})

/** Asks until the answer is the one that is waited for. */
const untilAnswered = (ask: () => Promise<{ status: number }>, status: number) =>
  until(async () => (await ask()).status === status)

test('rights that are lost on one node are lost on the other node', async () => {
  const admin = await start('losing admin')
  const { slug, id: namespaceId } = await found('losing', admin)
  const made = await call('POST', `/v1/namespaces/${slug}/invites`, { token: admin.token, body: {} })
  const { code } = (made.data as { invite: InviteView }).invite
  const member = await start('losing member')
  await call('POST', `/v1/invites/${code}/accept`, { token: member.token })
  const body = { deviceId: 'losing member', namespaceId }
  const { session } = (await call('POST', '/v1/session', { body })).data as { session: NewSession }
  await call('PUT', '/v1/traces/lost', { token: admin.token, body: {} })
  await call('POST', '/v1/session/switch', { token: admin.token, body: { slug } })
  await call('PUT', '/v1/traces/kept', { token: admin.token, body: {} })
  const read = (token: string) => over(1)('GET', '/v1/traces/kept', { token })
  assert.is((await read(session.token)).status, 200)
  await call('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`, { token: admin.token })
  await untilAnswered(() => read(session.token), 404)
  await call('DELETE', `/v1/sessions/${session.id}`, { token: member.token })
  await untilAnswered(() => read(session.token), 401)
  assert.is((await call('GET', '/v1/user', { token: session.token })).status, 401)
})

test.run()
