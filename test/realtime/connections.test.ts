import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Connection } from '../../src/realtime/connection.ts'
import { newConnections } from '../../src/realtime/connections.ts'
import { until } from '../support/until.ts'

const test = suite('realtime: connections of a node')

const settings = { REALTIME_SUBSCRIPTIONS: 100, REALTIME_CONNECTIONS_SESSION: 2, REALTIME_CONNECTIONS_ADDRESS: 3 }
const timeouts = { checkEvery: 5, pingEvery: 10, silent: 100, stalled: 100, stalledWhenCrowded: 100 }
const flow = { isCrowded: () => false }
const session = (id: string) => ({ is: 'session', id }) as const
const address = (id: string) => ({ is: 'address', id }) as const

/** A client that is heard of, and takes its frames, as the test says. */
const newClient = (state: { isTalking?: boolean; isTaking?: boolean } = {}) => {
  const { isTalking = true, isTaking = true } = state
  const began = performance.now()
  const client = { code: undefined as number | undefined, pings: 0, isCutOff: false }
  const connection: Connection = {
    heardAt: () => (isTalking ? performance.now() : began),
    progress: () => (isTaking ? undefined : { began, tookAt: began, takenBytes: 0 }),
    subscriptions: () => 2,
    ping: () => (client.pings += 1),
    close: (code) => (client.code ??= code),
    terminate: () => (client.isCutOff = true),
  }
  return { client, connection }
}

test('one that is silent is closed with 4000, one that does not take its frame with 4008, others are pinged', async () => {
  const codes: number[] = []
  const connections = newConnections(settings, flow, (code) => codes.push(code), timeouts)
  const [well, silent, slow] = [newClient(), newClient({ isTalking: false }), newClient({ isTaking: false })]
  for (const { connection } of [well, silent, slow]) connections.add(connection, address('a'))
  await until(() => silent.client.code !== undefined && slow.client.code !== undefined && well.client.pings > 3)
  assert.equal([well.client.code, silent.client.code, slow.client.code], [undefined, 4000, 4008])
  assert.equal(connections.counts(), { connections: 3, subscriptions: 6 })
  for (const { connection } of [well, silent, slow]) connections.remove(connection)
  assert.equal(connections.counts(), { connections: 0, subscriptions: 0 })
  assert.ok(codes.includes(4000) && codes.includes(4008))
})

test('each owner has room for so many, and a connection may come to belong to another', () => {
  const connections = newConnections(settings, flow)
  const clients = Array.from({ length: 4 }, () => newClient())
  const [a, b, c, d] = clients.map(({ connection }) => connection)
  for (const one of [a!, b!, c!]) connections.add(one, address('a'))
  assert.equal([connections.hasRoom(address('a')), connections.hasRoom(address('b'))], [false, true])
  for (const one of [a!, b!]) connections.move(one, session('s'))
  assert.equal([connections.hasRoom(address('a')), connections.hasRoom(session('s'))], [true, false])
  connections.move(c!, session('s'))
  assert.is(clients[2]!.client.code, 4029)
  connections.remove(a!)
  connections.add(d!, session('s'))
  connections.remove(a!)
  assert.not(connections.hasRoom(session('s')))
  for (const one of [b!, c!, d!]) connections.remove(one)
})

test('while frames wait for others, those who take longest are cut off', async () => {
  const flow = { isCrowded: () => true }
  const connections = newConnections(settings, flow, () => {}, { ...timeouts, stalled: 60_000, stalledWhenCrowded: 20 })
  const [well, slow] = [newClient(), newClient({ isTaking: false })]
  for (const { connection } of [well, slow]) connections.add(connection, address('a'))
  await until(() => slow.client.isCutOff)
  assert.equal([well.client.code, slow.client.code], [undefined, 4008])
  for (const { connection } of [well, slow]) connections.remove(connection)
})

test('one that takes little by little is cut off only while others wait', async () => {
  let isCrowded = false
  const began = performance.now()
  const hurried = { ...timeouts, stalledWhenCrowded: 50 }
  const connections = newConnections(settings, { isCrowded: () => isCrowded }, () => {}, hurried)
  const [little, well] = [newClient(), newClient()]
  const progress = (takenBytes: number) => () => ({ began, tookAt: performance.now(), takenBytes })
  connections.add({ ...little.connection, progress: progress(1_000) }, address('a'))
  connections.add({ ...well.connection, progress: progress(100_000_000) }, address('a'))
  await until(() => performance.now() - began > 2 * timeouts.stalled && little.client.pings > 3)
  assert.is(little.client.code, undefined)
  isCrowded = true
  await until(() => little.client.isCutOff)
  assert.equal([little.client.code, well.client.code], [4008, undefined])
})

test('a stop tells all to come back, and waits until they have gone', async () => {
  const connections = newConnections(settings, flow)
  const { client, connection } = newClient()
  connections.add(connection, address('a'))
  let isOver = false
  const closing = connections.closeAll().then(() => (isOver = true))
  assert.is(client.code, 1012)
  assert.not(isOver)
  connections.remove(connection)
  await closing
})

test.run()
