import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Connection } from '../../../src/server/realtime/connection.ts'
import { newConnections } from '../../../src/server/realtime/connections.ts'
import { until } from '../../support/until.ts'

const test = suite('realtime: connections of a node')

const settings = { REALTIME_SUBSCRIPTIONS: 100, REALTIME_CONNECTIONS_SESSION: 2, REALTIME_CONNECTIONS_ADDRESS: 3 }
const timeouts = { checkEvery: 5, pingEvery: 10, silent: 100, stalled: 100 }
const session = (session: string, of = 'a') => ({ session, address: of })
const address = (address: string) => ({ address })

/** A client that is heard of, and takes its frames, as the test says. */
const newClient = (state: { isTalking?: boolean; isTaking?: boolean } = {}) => {
  const { isTalking = true, isTaking = true } = state
  const began = performance.now()
  const client = { code: undefined as number | undefined, pings: 0, isCutOff: false }
  const connection: Connection = {
    heardAt: () => (isTalking ? performance.now() : began),
    taken: () => (isTaking ? performance.now() : 0),
    subscriptions: () => 2,
    ping: () => (client.pings += 1),
    close: (code) => (client.code ??= code),
    terminate: () => (client.isCutOff = true),
  }
  return { client, connection }
}

test('a silent connection is closed with 4000, one that reads nothing of its frame with 4008, others are pinged', async () => {
  const codes: number[] = []
  const connections = newConnections(settings, (code) => codes.push(code), timeouts)
  const [well, silent, slow] = [newClient(), newClient({ isTalking: false }), newClient({ isTaking: false })]
  for (const { connection } of [well, silent, slow]) connections.add(connection, address('a'))
  await until(() => silent.client.code !== undefined && slow.client.code !== undefined && well.client.pings > 3)
  assert.equal([well.client.code, silent.client.code, slow.client.code], [undefined, 4000, 4008])
  assert.equal(connections.counts(), { connections: 3, subscriptions: 6 })
  for (const { connection } of [well, silent, slow]) connections.remove(connection)
  assert.equal(connections.counts(), { connections: 0, subscriptions: 0 })
  assert.ok(codes.includes(4000) && codes.includes(4008))
})

test('each owner has a maximum, and a connection may change its owner', () => {
  const connections = newConnections(settings)
  const clients = Array.from({ length: 4 }, () => newClient())
  const [a, b, c, d] = clients.map(({ connection }) => connection)
  for (const one of [a!, b!, c!]) connections.add(one, address('a'))
  assert.equal([connections.crowded(address('a')), connections.crowded(address('b'))], ['address', undefined])
  for (const one of [a!, b!]) connections.move(one, session('s'))
  assert.equal([connections.crowded(address('a')), connections.crowded(session('s'))], [undefined, 'session'])
  connections.move(c!, session('s'))
  assert.is(clients[2]!.client.code, 4029)
  connections.remove(a!)
  connections.add(d!, session('s'))
  connections.remove(a!)
  assert.is(connections.crowded(session('s')), 'session')
  for (const one of [b!, c!, d!]) connections.remove(one)
})

test('an address has a maximum with sessions and without, however many sessions it creates', () => {
  const connections = newConnections(settings)
  const clients = Array.from({ length: 12 }, () => newClient().connection)
  clients.forEach((one, i) => connections.add(one, session(`s${Math.floor(i / 2)}`)))
  assert.equal([connections.crowded(session('new')), connections.crowded(address('a'))], ['address', 'address'])
  assert.is(connections.crowded(session('s0', 'b')), 'session', 'a session has so many, wherever it comes from')
  assert.is(connections.crowded(session('new', 'b')), undefined)
  connections.remove(clients[0]!)
  assert.is(connections.crowded(session('new')), undefined)
  for (const one of clients) connections.remove(one)
})

test('a connection that holds memory that others need is cut off at once', () => {
  const codes: number[] = []
  const connections = newConnections(settings, (code) => codes.push(code))
  const { client, connection } = newClient()
  connections.add(connection, address('a'))
  connections.cutOff(connection)
  assert.equal([client.code, client.isCutOff, codes], [4008, true, [4008]])
  connections.remove(connection)
})

test('a stop tells all clients to reconnect, and waits until they have gone', async () => {
  const connections = newConnections(settings)
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
