import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { withSchema } from '../../../src/commands/support/read-models.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { replayServed } from '../../../src/eventstore/engine/replay.ts'
import { refresh } from '../../../src/server/user/decide.ts'
import { addDevice } from '../../support/add-device.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import type { App } from '../../support/open-app.ts'
import { type Person, callerOf, openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'

const test = suite('removing identities')
const { database, node, openNode } = await openWorld(test)
const other = await openNode({ env: { ROLES: 'api' } })
const nodes = [node, other]
const { service } = node

const start = (deviceId?: string, at: App = node) => signIn(at, deviceId)
const remove = (token: string | undefined, id: string, at: App = node) =>
  callerOf(at, token).ask('DELETE', `/v1/user/identities/${id}`)
const identitiesOf = async ({ send }: Person) =>
  (await send<{ identities: { id: string }[] }>('GET', '/v1/user/identities')).identities.map(({ id }) => id)
const statusOf = async ({ token }: Person, at: App = node) =>
  (await callerOf(at, token).ask('GET', '/v1/session')).status

/** Somebody with two devices, and a session of each. */
const withTwo = async () => {
  const [first, deviceId] = [await start(), randomUUID()]
  await addDevice(node, first.userId, deviceId)
  return { first, second: await start(deviceId), deviceId }
}

test('removing an identity of one’s own ends its sessions, on this node at once and on the other within a second', async () => {
  const { first, second, deviceId } = await withTwo()
  const again = await start(deviceId)
  assert.is(second.userId, first.userId)
  for (const node of nodes) for (const session of [second, again]) assert.is(await statusOf(session, node), 200)
  const answer = await remove(first.token, second.identityId)
  assert.equal([answer.status, answer.data], [200, { removed: true }])
  for (const session of [second, again]) assert.is(await statusOf(session), 401)
  for (const session of [second, again]) await until(async () => (await statusOf(session, other)) === 401)
  for (const node of nodes) assert.is(await statusOf(first, node), 200)
  assert.equal(await identitiesOf(first), [first.identityId])
  const { sessions } = await first.send<{ sessions: { id: string }[] }>('GET', '/v1/sessions')
  assert.equal(
    sessions.map(({ id }) => id),
    [first.id],
  )
  assert.is((await first.ask('DELETE', `/v1/sessions/${second.id}`)).status, 404)
})

test('a removed device signs in as a new user, each time that it was removed', async () => {
  const { first, second, deviceId } = await withTwo()
  await remove(first.token, second.identityId)
  const anew = await Promise.all([start(deviceId), start(deviceId, other)])
  assert.equal([...new Set(anew.map(({ userId }) => userId))].length, 1)
  assert.is.not(anew[0].userId, first.userId)
  assert.is.not(anew[0].namespaceId, first.namespaceId)
  assert.equal(await identitiesOf(anew[0]), [anew[0].identityId])
  await addDevice(node, anew[0].userId, randomUUID())
  assert.is((await remove(anew[0].token, anew[0].identityId)).status, 200)
  const third = await start(deviceId)
  assert.equal(new Set([first.userId, anew[0].userId, third.userId]).size, 3)
})

test('the last identity cannot be removed', async () => {
  const { first, second } = await withTwo()
  assert.is((await remove(second.token, first.identityId)).status, 200)
  const refused = await remove(second.token, second.identityId)
  assert.equal([refused.status, refused.error.code], [409, 'last_identity'])
  assert.is(await statusOf(second), 200)
})

test('of the last two identities, removed at the same time on two nodes, one stays', async () => {
  for (let i = 0; i < 10; i++) {
    const { first, second } = await withTwo()
    const answers = await Promise.all([
      remove(first.token, first.identityId, node),
      remove(second.token, second.identityId, other),
    ])
    assert.equal(answers.map(({ status }) => status).sort(), [200, 409])
    assert.is(answers.find(({ status }) => status === 409)!.error.code, 'last_identity')
    const kept = answers[0].status === 409 ? first : second
    assert.equal(await identitiesOf(kept), [kept.identityId])
  }
})

test('identities of others, unknown ones and removed ones cannot be removed', async () => {
  const { first, second } = await withTwo()
  const stranger = await start()
  for (const [token, id, status] of [
    [undefined, second.identityId, 401],
    ['tb_made-up', second.identityId, 401],
    [stranger.token, second.identityId, 404],
    [stranger.token, first.identityId, 404],
    [first.token, randomUUID(), 404],
    [first.token, 'x', 404],
    [first.token, '%00', 400],
    [first.token, second.identityId, 200],
    [first.token, second.identityId, 404],
    [second.token, first.identityId, 401],
  ] as const)
    assert.is((await remove(token, id)).status, status, `${id} ${status}`)
})

test('identities of others, unknown ones and removed ones cannot be named', async () => {
  const { first, second } = await withTwo()
  const stranger = await start()
  const rename = (token: string | undefined, id: string) =>
    callerOf(node, token).ask('PATCH', `/v1/user/identities/${id}`, { name: 'my laptop' })
  for (const [token, id, status] of [
    [undefined, second.identityId, 401],
    ['tb_made-up', second.identityId, 401],
    [stranger.token, second.identityId, 404],
    [first.token, randomUUID(), 404],
    [first.token, 'x', 404],
    [first.token, '%00', 400],
    [first.token, second.identityId, 200],
  ] as const)
    assert.is((await rename(token, id)).status, status, `${id} ${status}`)
  await remove(first.token, second.identityId)
  assert.is((await rename(first.token, second.identityId)).status, 404)
})

test('a cookie needs its CSRF token, and is cleared with its own identity', async () => {
  const { first, second } = await withTwo()
  const cookie = `tracebook=${second.token}`
  const shown = await node.call('GET', '/v1/session', { headers: { cookie } })
  const { csrfToken } = shown.data as { csrfToken: string }
  const url = `/v1/user/identities/${second.identityId}`
  const refused = await node.call('DELETE', url, { headers: { cookie } })
  assert.equal([refused.status, refused.error.code], [403, 'csrf_failed'])
  const { statusCode, headers } = await node.app.inject({
    method: 'DELETE',
    url,
    headers: { cookie, 'x-csrf-token': csrfToken },
  })
  assert.is(statusCode, 200)
  assert.match(String(headers['set-cookie']), /^tracebook=; Path=\/; Max-Age=0;/)
  assert.is(await statusOf(first), 200)
})

test('an address that only a removed identity had verified does not open an invite', async () => {
  const { first, second } = await withTwo()
  const admin = await start()
  const { slug } = await admin.newTeam()
  const profile = { email: `${slug}@example.org`, emailVerified: true }
  const decide = refresh(profile)
  const { position } = await service.identities.transact(second.identityId, { decide, answer: () => {} }, {})
  await service.visible(position)
  const body = { email: profile.email }
  const made = await admin.ask('POST', `/v1/namespaces/${slug}/invites`, body)
  const { code } = (made.data as { invite: { code: string } }).invite
  await remove(first.token, second.identityId)
  assert.is((await first.ask('POST', `/v1/invites/${code}/accept`)).status, 403)
})

test('the read models are the same after a replay of any of the streams, and after a rebuild', async () => {
  const { first, second, deviceId } = await withTwo()
  await remove(first.token, second.identityId)
  const anew = await start(deviceId)
  const schema = schemaOf(mainGroup)
  const live = await dumpSchema(database.url, schema)
  const { log, codec } = service
  for (const stream of [
    `user-${first.userId}`,
    ...[first, second, anew].flatMap(({ identityId, id }) => [`identity-${identityId}`, `session-${id}`]),
  ]) {
    await withSchema(database.url, mainGroup, (client) =>
      replayServed({ client, group: mainGroup }, { log, codec }, stream),
    )
    assert.equal(await dumpSchema(database.url, schema), live, stream)
  }
  await rebuild({ url: database.url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(database.url, schema), live)
  await until(async () => (await statusOf(anew)) === 200)
  assert.is(await statusOf(second), 401)
})

test.run()
