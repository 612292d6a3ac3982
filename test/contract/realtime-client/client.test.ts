import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type RealtimeClient, type State, newRealtimeClient } from '../../../src/contract/realtime-client/client.ts'
import { followMessages } from '../../../src/contract/realtime-client/messages.ts'
import type { ValueOf } from '../../../src/contract/realtime.ts'
import { until } from '../../support/until.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('contract/realtime-client')
const env = { REALTIME_SUBSCRIPTIONS: '3', REALTIME_CONNECTIONS_ADDRESS: '2' }
const { node, openNode } = await openWorld(test, { env })
const { token } = await signIn(node)
await node.close()
let app = node
let server: string
let port = 0
let clients: RealtimeClient[] = []

const start = async () => {
  app = await openNode()
  server = await app.app.listen({ host: '127.0.0.1', port })
  port = Number(new URL(server).port)
}

test.before(start)
test.after.each(() => {
  for (const client of clients) client.close()
  clients = []
})

const open = () => {
  const states: State[] = []
  const client = newRealtimeClient({ server, state: (state) => states.push(state) })
  clients.push(client)
  return { client, states }
}
const put = (externalId: string, body: object) => app.call('PUT', `/v1/traces/${externalId}`, { token, body })
const say = (externalId: string, message: string, textContent: string) =>
  app.call('PUT', `/v1/traces/${externalId}/messages/${message}`, { token, body: { role: 'user', textContent } })

/** What a page shows that follows the messages of a trace. */
const page = (client: RealtimeClient, externalId: string) => {
  const shown = new Map<string, string | undefined>()
  const lengths: number[] = []
  const stop = followMessages(
    client,
    { externalId, authToken: token },
    {
      changed: ({ messages }) => {
        lengths.push(messages.length)
        for (const { externalId, textContent } of messages) shown.set(externalId, textContent)
      },
      gone: () => shown.clear(),
    },
  )
  return { shown: () => Object.fromEntries(shown), lengths, stop }
}

test('a value comes at once and after each change, until the subscription ends', async () => {
  await put('told', { title: 'A' })
  const { client } = open()
  const titles: (string | undefined)[] = []
  const stop = client.subscribe(
    'traces:get',
    { externalId: 'told', authToken: token },
    {
      value: (trace) => titles.push(trace?.title),
    },
  )
  await until(() => titles.length === 1)
  await put('told', { title: 'B' })
  await until(() => titles.length === 2)
  stop()
  const others: ValueOf<'traces:get'>[] = []
  client.subscribe('traces:get', { externalId: 'told', authToken: token }, { value: (trace) => others.push(trace) })
  await until(() => others.length === 1)
  await put('told', { title: 'C' })
  await until(() => others.length === 2)
  assert.equal(titles, ['A', 'B'])
})

test('after a restart all subscriptions are made again, and nothing is missed', async () => {
  await put('kept', { title: 'A' })
  await say('kept', 'm1', 'before')
  const { client, states } = open()
  const titles: (string | undefined)[] = []
  client.subscribe(
    'traces:get',
    { externalId: 'kept', authToken: token },
    {
      value: (trace) => titles.push(trace?.title),
    },
  )
  const { shown, lengths } = page(client, 'kept')
  await until(() => titles.length === 1 && lengths.length === 1)
  await app.close()
  await until(() => states.some((state) => state.is === 'waiting' && state.code === 1012))
  await start()
  await put('kept', { title: 'B' })
  await say('kept', 'm2', 'meanwhile')
  await until(() => titles.at(-1) === 'B' && lengths.length > 1)
  await say('kept', 'm1', 'changed')
  await until(() => shown().m1 === 'changed')
  assert.equal(shown(), { m1: 'changed', m2: 'meanwhile' })
  assert.ok(lengths.every((length) => length === 1))
})

test('a trace that was created again while nobody was connected is shown as it is now', async () => {
  await put('anew', {})
  await say('anew', 'old', 'old')
  const { client, states } = open()
  const { shown } = page(client, 'anew')
  await until(() => shown().old !== undefined)
  await app.close()
  await until(() => states.at(-1)?.is === 'waiting')
  const at = port
  port = 0
  await start()
  await app.call('DELETE', '/v1/traces/anew', { token })
  await put('anew', {})
  await say('anew', 'new', 'new')
  await app.close()
  port = at
  await start()
  await until(() => shown().new !== undefined)
  assert.equal(shown(), { new: 'new' })
})

test('a permanent refusal ends a subscription, a temporary one does not', async () => {
  const { client } = open()
  const failures: string[] = []
  client.subscribe('traces:get', { externalId: '' }, { value: () => {}, failed: ({ code }) => failures.push(code) })
  await until(() => failures.length === 1)
  assert.equal(failures, ['invalid_request'])
  await put('crowded', { title: 'A' })
  const values: number[] = [0, 0, 0, 0]
  const stops = values.map((_, i) =>
    client.subscribe('traces:get', { externalId: 'crowded', authToken: token }, { value: () => (values[i]! += 1) }),
  )
  await until(() => values.filter((count) => count > 0).length === 3)
  stops[0]!()
  await until(() => values[3]! > 0)
})

test('a closed client does not connect again', async () => {
  const { client, states } = open()
  client.close()
  client.subscribe('feed:getPublicTraces', {}, { value: () => {} })
  assert.equal(states, [{ is: 'closed' }])
})

test.run()
