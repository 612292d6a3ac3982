import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { openWorld, signIn } from '../../support/world.ts'

/** Two nodes: what the one deletes the other may remember for a moment. */
const test = suite('trace/locate')

const { node, openNode } = await openWorld(test)
const nodes = [node, await openNode({ env: { ROLES: 'api' } })] as const

const ROUNDS = 20

/** One node that writes, and another that deletes, in turn. */
const inTurn = (round: number): readonly [App, App] => (round % 2 === 0 ? nodes : [nodes[1], nodes[0]])

test('a deleted trace does not hide another one with the same external id', async () => {
  const { token, send, newTrace, newTeam } = await signIn(node)
  const { url, id } = await newTrace()
  await send('POST', '/v1/session/switch', { slug: (await newTeam()).slug })
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = inTurn(round)
    await one.call('PUT', url, { token, body: {} })
    await other.call('DELETE', url, { token })
    const put = await one.call('PUT', `${url}/messages/m`, { token, body: { role: 'user', textContent: `${round}` } })
    assert.is(put.status, 200, JSON.stringify(put.error))
  }
  assert.is((await send<{ trace: { id: string } }>('GET', url)).trace.id, id)
})

test('a deleted trace is not created again beside the trace of another namespace', async () => {
  const [ada, eve] = [await signIn(node), await signIn(node)]
  await eve.admit(eve.namespaceSlug, ada, 'admin') // so that her writes pass: there is a trace of the name already
  for (let round = 0; round < ROUNDS; round++) {
    const [one, other] = inTurn(round)
    const path = `/v1/traces/${randomUUID()}`
    for (const { token } of [eve, ada]) assert.is((await one.call('PUT', path, { token, body: {} })).status, 200)
    await other.call('DELETE', path, { token: eve.token })
    assert.is((await one.call('PUT', path, { token: eve.token, body: {} })).status, 404)
  }
})

test.run()
