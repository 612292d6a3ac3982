import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openReads } from '../../../src/eventstore/engine/reads.ts'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { errorOf } from '../log/support/events.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

const test = suite('engine/reads')

const ofReaders = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'tracebook reads'`

const signIn = async ({ call }: App): Promise<string> => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: 'device' } })
  return (data as { session: { token: string } }).session.token
}

const PATHS = ['/v1/traces/t', '/v1/traces/t/messages', '/v1/session', '/v1/feed', '/v1/traces']

/** Thirty reads at once: more than a pool has connections. */
const readAll = async ({ call }: App, token: string) => {
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => call('GET', PATHS[i % 5]!, { token })))
  for (const { status, error } of answers) assert.is(status, 200, JSON.stringify(error))
}

test('go on over new connections when there is no runner', async () => {
  const database = await freshDatabase()
  const whole = await openApp(database.url)
  const token = await signIn(whole)
  await whole.call('PUT', '/v1/traces/t', { token, body: { visibility: 'public' } })
  const node = await openApp(database.url, { env: { ROLES: 'api' } })
  await whole.close()
  try {
    // It is stored, and nobody projects it: the read models stay behind the log.
    const late = await node.unrepeated(() => node.call('PUT', '/v1/traces/late', { token, body: {} }))
    assert.is(late.status, 503)
    await readAll(node, token)
    await onServer(database.url, ofReaders)
    await until(() => node.service.reads.pool.totalCount === 0)
    await readAll(node, token)
  } finally {
    await node.close()
    await database.drop()
  }
})

test('do not notice that their connections were closed', async () => {
  const database = await freshDatabase()
  const app = await openApp(database.url)
  try {
    const token = await signIn(app)
    await app.call('PUT', '/v1/traces/t', { token, body: { visibility: 'public' } })
    for (let round = 0; round < 10; round++) {
      const reading = readAll(app, token)
      await onServer(database.url, ofReaders)
      await Promise.all([reading, readAll(app, token)])
    }
  } finally {
    await app.close()
    await database.drop()
  }
})

test('probe a silent server once, not once for each connection of the pool', async () => {
  let connections = 0
  const silent = createServer(() => (connections += 1)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const quarantine = { isNotQuarantined: () => true, assertNotQuarantined: () => {} }
  const url = `postgresql://x:x@127.0.0.1:${port}/x?sslmode=disable`
  const reads = openReads({ url, schema: 'x', quarantine, head: async () => 0n, lastSeen: () => 0n })
  assert.instance(await errorOf(reads.rows('one', 'select 1')), Unavailable)
  assert.is(connections, 1)
  await reads.close()
  silent.close()
})

test.run()
