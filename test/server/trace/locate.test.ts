import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'

/** Two nodes: what the one deletes the other may remember for a moment. */
const test = suite('trace/locate')

const database = await freshDatabase()
const nodes = [await openApp(database.url), await openApp(database.url, { env: { ROLES: 'api' } })] as const
test.after(async () => {
  for (const node of nodes) await node.close()
  await database.drop()
})

type Session = { token: string; namespaceSlug: string }
type Detail = { trace: { id: string } }

const signIn = async () => {
  const { data } = await nodes[0].call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  return (data as { session: Session }).session
}

/** A namespace of an admin's, where the token's session is moved to. */
const moveToNew = async ({ token }: Session) => {
  const slug = `team-${randomUUID().slice(0, 13)}`
  await nodes[0].call('POST', '/v1/namespaces', { token, body: { slug, displayName: 'Team' } })
  await nodes[0].call('POST', '/v1/session/switch', { token, body: { slug } })
}

/** Makes somebody an admin of another one's namespace. */
const invite = async (host: Session, guest: Session) => {
  const path = `/v1/namespaces/${host.namespaceSlug}/invites`
  const { data } = await nodes[0].call('POST', path, { token: host.token, body: { role: 'admin' } })
  const { code } = (data as { invite: { code: string } }).invite
  assert.is((await nodes[0].call('POST', `/v1/invites/${code}/accept`, { token: guest.token })).status, 200)
}

const ROUNDS = 20

/** One node that writes, and another that deletes, in turn. */
const inTurn = (round: number): readonly [App, App] => (round % 2 === 0 ? nodes : [nodes[1], nodes[0]])

test('a deleted trace does not hide another one with the same external id', async () => {
  const ada = await signIn()
  const { token } = ada
  const path = `/v1/traces/${randomUUID()}`
  const there = await nodes[0].call('PUT', path, { token, body: {} })
  await moveToNew(ada)
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = inTurn(round)
    await one.call('PUT', path, { token, body: {} })
    await other.call('DELETE', path, { token })
    const put = await one.call('PUT', `${path}/messages/m`, { token, body: { role: 'user', textContent: `${round}` } })
    assert.is(put.status, 200, JSON.stringify(put.error))
  }
  const { data } = await nodes[0].call('GET', path, { token })
  assert.is((data as Detail).trace.id, (there.data as Detail).trace.id)
})

test('a deleted trace is not created again beside the trace of another namespace', async () => {
  const [ada, eve] = [await signIn(), await signIn()]
  await invite(eve, ada) // so that her writes pass: there is a trace of the name already
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = inTurn(round)
    const path = `/v1/traces/${randomUUID()}`
    for (const { token } of [eve, ada]) assert.is((await one.call('PUT', path, { token, body: {} })).status, 200)
    await other.call('DELETE', path, { token: eve.token })
    assert.is((await one.call('PUT', path, { token: eve.token, body: {} })).status, 404)
  }
})

test.run()
