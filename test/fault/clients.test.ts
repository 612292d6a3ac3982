import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer } from '../support/database.ts'
import { until } from '../support/until.ts'
import { WITH_WORKER, openWorld, signIn } from '../support/world.ts'

const test = suite('fault/clients')

const warnings: string[] = []
process.on('warning', ({ name, message }) => warnings.push(`${name}: ${message}`))

const { node, database } = await openWorld(test, { env: WITH_WORKER })
const { app, service, call } = node
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

const MESSAGES = 400
const LENGTH = 20_000

const { token, newTrace } = await signIn(node)
const messages = Array.from({ length: MESSAGES }, (_, i) => {
  return { externalId: `m${i}`, role: 'user', textContent: 'x'.repeat(LENGTH) }
})
await newTrace({}, messages, 'long')

const openSockets = () =>
  new Promise<number>((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

/** Sessions of the database that do something, or hold a snapshot. */
const busySessions = async () => {
  const busy = `select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`
  return (await onServer(database.url, busy)).rows.length
}

const isAllGivenBack = async () => {
  const { pool } = service.reads
  return (
    pool.idleCount === pool.totalCount &&
    pool.waitingCount === 0 &&
    (await openSockets()) === 0 &&
    (await busySessions()) === 0
  )
}

const head = (method: string, path: string, length = 0) =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

test('clients that break off in the middle of a body leave nothing behind', async () => {
  const body = JSON.stringify({ messages: [{ externalId: 'm', role: 'user', textContent: 'x'.repeat(100_000) }] })
  for (let i = 0; i < 40; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const arrived = once(app.server, 'request')
    socket.write(head('POST', '/v1/traces/long/messages/batch', body.length) + body.slice(0, i * 2_000))
    await arrived
    socket.resetAndDestroy()
  }
  await until(isAllGivenBack)
  const { data } = await call('GET', '/v1/traces/long', { token })
  assert.is((data as { trace: { messageCount: number } }).trace.messageCount, MESSAGES)
})

test('readers that break off in the middle of a long list leave nothing behind', async () => {
  for (let i = 0; i < 40; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(head('GET', '/v1/traces/long/messages'))
    await once(socket, 'data')
    socket.resetAndDestroy()
  }
  await until(isAllGivenBack)
  const answer = await fetch(`http://127.0.0.1:${port}/v1/traces/long/messages`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close' },
  })
  assert.ok((await answer.text()).length > MESSAGES * LENGTH)
})

/** How many timers, sockets and the like keep the process alive, by kind. */
const resources = (): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

const requests = (count: number, name: string) =>
  Promise.all(
    Array.from({ length: 10 }, async (_, w) => {
      const path = `/v1/traces/${name}${w}`
      await call('PUT', path, { token, body: { visibility: 'public' } })
      for (let i = 0; i < count / 40; i++) {
        await call('PUT', `${path}/messages/m${i % 7}`, { token, body: { role: 'user', textContent: `${i}` } })
        await call('GET', `${path}/messages`, { token })
        await call('GET', '/v1/feed')
        await call('GET', path)
      }
      await call('DELETE', path, { token })
    }),
  )

test('thousands of requests leave no timer, listener or handle behind', async () => {
  await requests(400, 'warm')
  await until(isAllGivenBack)
  const before = resources()
  await requests(3_000, 'more')
  await until(isAllGivenBack)
  // Timers come and go by themselves: what counts is that it comes back to what it was.
  await until(() => Object.entries(resources()).every(([kind, count]) => count <= (before[kind] ?? 0) + 1))
  assert.equal(warnings, [])
})

test.run()
