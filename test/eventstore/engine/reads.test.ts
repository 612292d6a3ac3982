import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openReads } from '../../../src/eventstore/engine/reads.ts'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { errorOf } from '../log/support/events.ts'
import { onServer } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { type Caller, callerOf, newWorld, signIn } from '../../support/world.ts'

const test = suite('engine/reads')

const ofReaders = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'tracebook reads'`

const PATHS = ['/v1/traces/t', '/v1/traces/t/messages', '/v1/session', '/v1/feed', '/v1/traces']

/** Thirty reads at once: more than a pool has connections. */
const readAll = ({ send }: Caller) => Promise.all(Array.from({ length: 30 }, (_, i) => send('GET', PATHS[i % 5]!)))

test('go on over new connections when there is no runner', async () => {
  const { database, node: whole, openNode, close } = await newWorld()
  try {
    const { token, send } = await signIn(whole)
    await send('PUT', '/v1/traces/t', { visibility: 'public' })
    const node = await openNode({ env: { ROLES: 'api' } })
    await whole.close()
    const reader = callerOf(node, token)
    // It is stored, and nobody projects it: the read models stay behind the log.
    const late = await node.unrepeated(() => reader.ask('PUT', '/v1/traces/late', {}))
    assert.is(late.status, 503)
    await readAll(reader)
    await onServer(database.url, ofReaders)
    await until(() => node.service.reads.pool.totalCount === 0)
    await readAll(reader)
  } finally {
    await close()
  }
})

test('do not notice that their connections were closed', async () => {
  const { database, node, close } = await newWorld()
  try {
    const reader = await signIn(node)
    await reader.send('PUT', '/v1/traces/t', { visibility: 'public' })
    for (let round = 0; round < 10; round++) {
      const reading = readAll(reader)
      await onServer(database.url, ofReaders)
      await Promise.all([reading, readAll(reader)])
    }
  } finally {
    await close()
  }
})

test('of one snapshot do not show what was written meanwhile', async () => {
  const { node, close } = await newWorld()
  try {
    const { send } = await signIn(node)
    const { reads } = node.service
    const count = async (rows: typeof reads.rows) =>
      (await rows<{ count: number }>('', 'select count(*)::int4 as count from traces'))[0]!.count
    const counts = await reads.snapshot(async (readRows) => {
      const before = await count(readRows)
      await send('PUT', '/v1/traces/t', {})
      return [before, await count(readRows)]
    })
    assert.equal([...counts, await count(reads.rows)], [0, 0, 1])
  } finally {
    await close()
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
