import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { openWorld, signIn } from '../../support/world.ts'

/** Two nodes of one service; the second one builds no read models itself. */
const test = suite('engine: two nodes')

const { node: first, openNode } = await openWorld(test, { readModels: false })
const second = await openNode({ env: { ROLES: 'api' } })
const nodes = [first, second] as const

const statusOf = async ({ call }: App, url: string, token?: string) => (await call('GET', url, { token })).status

const feedOf = async ({ call }: App, token?: string): Promise<{ id: string; title?: string }[]> =>
  ((await call('GET', '/v1/feed?limit=1000', { token })).data as { traces: { id: string }[] }).traces

for (const [name, writer, reader] of [
  ['the first node', first, first],
  ['the second node', second, second],
  ['the first node, by the second', first, second],
  ['the second node, by the first', second, first],
] as const) {
  test(`what was answered by ${name} is seen by the next request`, async () => {
    const { token } = await signIn(writer)
    const put = (url: string, body: object) => writer.call('PUT', url, { token, body })
    for (let i = 0; i < 10; i++) {
      const url = `/v1/traces/${randomUUID()}`
      await put(url, { title: 'one', visibility: 'public' })
      assert.is(await statusOf(reader, url), 200)
      await put(`${url}/messages/m`, { role: 'user', textContent: 'hello' })
      const { data } = await reader.call('GET', `${url}/messages`, { token })
      assert.is((data as { messages: unknown[] }).messages.length, 1)
      await put(url, { title: 'two' })
      assert.is(await statusOf(reader, url), 401)
      await writer.call('DELETE', url, { token })
      assert.is(await statusOf(reader, url), 404)
    }
  })
}

test('the public feed is up to date on the node that wrote, and soon on the other', async () => {
  const { token } = await signIn(first)
  const url = `/v1/traces/${randomUUID()}`
  const steps = [
    { title: 'a', visibility: 'public' },
    { title: 'b', visibility: 'public' },
    { title: 'b', visibility: 'direct' },
    { title: 'c', visibility: 'public' },
    undefined,
  ]
  for (const [i, body] of [...steps, ...steps].entries()) {
    const [writer, other] = i % 2 ? [second, first] : [first, second]
    await (body ? writer.call('PUT', url, { token, body }) : writer.call('DELETE', url, { token }))
    const wanted = body?.visibility === 'public' ? [body.title] : []
    const titles = async (node: App) => (await feedOf(node)).map(({ title }) => title)
    assert.equal(await titles(writer), wanted)
    await until(async () => `${await titles(other)}` === `${wanted}`)
  }
})

test('both nodes name the same log', async () => {
  const { token } = await signIn(first)
  const logIdOf = async ({ call }: App) =>
    ((await call('GET', '/v1/session', { token })).data as { logId?: string }).logId
  assert.match((await logIdOf(first))!, /^[0-9a-f-]{36}$/)
  assert.is(await logIdOf(second), await logIdOf(first))
})

test('a session that is ended ends on the other node too', async () => {
  for (const [one, other] of [nodes, nodes.toReversed() as [App, App]]) {
    const { token } = await signIn(one)
    for (const node of nodes) assert.is(await statusOf(node, '/v1/session', token), 200)
    await one.call('DELETE', '/v1/session', { token })
    assert.is(await statusOf(one, '/v1/session', token), 401)
    await until(async () => (await statusOf(other, '/v1/session', token)) === 401)
  }
})

test('a removed member reads nothing of the namespace any more, on the other node either', async () => {
  const [admin, member] = [await signIn(first), await signIn(first)]
  const { slug } = await admin.newTeam()
  await admin.admit(slug, member)
  await member.send('POST', '/v1/session/switch', { slug })
  const url = `/v1/traces/${randomUUID()}`
  await member.send('PUT', url, {})
  for (const node of nodes) assert.is(await statusOf(node, url, member.token), 200)
  await admin.send('DELETE', `/v1/namespaces/${slug}/members/${member.userId}`)
  assert.is(await statusOf(first, url, member.token), 404)
  await until(async () => (await statusOf(second, url, member.token)) === 404)
  await until(async () => !(await feedOf(second, member.token)).some(() => true))
  const write = await second.call('PUT', `${url}/messages/m`, { token: member.token, body: { role: 'user' } })
  assert.is(write.status, 404)
})

test('a retry on the other node is decided on what the first node has stored', async () => {
  const { token } = await signIn(first)
  const url = `/v1/traces/${randomUUID()}`
  await first.call('PUT', url, { token, body: {} })
  const send = async (node: App, textContent: string) => {
    const messages = [{ externalId: 'm', role: 'user', textContent }]
    const { data } = await node.call('POST', `${url}/messages/batch`, { token, body: { messages } })
    return (data as { messages: { result: string }[] }).messages[0]!.result
  }
  assert.is(await send(first, 'a'), 'created')
  for (let i = 0; i < 10; i++) {
    const [one, other] = i % 2 ? [first, second] : [second, first]
    assert.is(await send(one, `${i}`), 'updated')
    await until(async () => (await send(other, `${i}`)) === 'unchanged')
  }
})

test('concurrent writes on both nodes to one trace lose nothing', async () => {
  const { token } = await signIn(first)
  const url = `/v1/traces/${randomUUID()}`
  await first.call('PUT', url, { token, body: {} })
  const writers = Array.from({ length: 12 }, async (_, w) => {
    for (let i = 0; i < 8; i++) {
      const answer = await nodes[w % 2]!.call('PUT', `${url}/messages/${w}-${i}`, { token, body: { role: 'user' } })
      assert.is(answer.status, 200)
    }
  })
  await Promise.all(writers)
  const { data } = await second.call('GET', url, { token })
  assert.is((data as { trace: { messageCount: number } }).trace.messageCount, 96)
})

test.run()
