import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type EventStoreLogOptions,
  openEventStoreLog,
} from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { type EventLog, LogUnavailable } from '../../../../src/eventstore/log/log.ts'
import { type Cluster, startCluster } from '../../../support/eventstoredb/cluster.ts'
import type { Double } from '../../../support/eventstoredb/server.ts'
import { until } from '../../../support/until.ts'
import { all, bodies, errorOf, followPrefix, numbered } from '../support/events.ts'

type Scene = {
  cluster: Cluster
  nodes: readonly [Double, Double, Double]
  opened: EventLog[]
  open(options?: Partial<EventStoreLogOptions>): EventLog
}

const test = suite<Scene>('a log in a cluster of EventStoreDB')
test.before.each(async (scene) => {
  const cluster = await startCluster()
  const opened: EventLog[] = []
  const open = (options: Partial<EventStoreLogOptions> = {}) => {
    const log = openEventStoreLog({ url: cluster.url, ...options })
    opened.push(log)
    return log
  }
  Object.assign(scene, { cluster, nodes: cluster.nodes, opened, open })
})
test.after.each(async ({ cluster, opened }) => {
  for (const { faults } of cluster.nodes) faults.resume()
  await Promise.all(opened.map((log) => log.close()))
  await cluster.stop()
})

test('appends and reads go to the leader, and every node gets what was appended', async ({ open, nodes }) => {
  const log = open()
  await log.append('a', 'none', numbered(2))
  assert.equal(bodies(await all(log.read('a'))), ['{"n":0}', '{"n":1}'])
  for (const { store } of nodes) assert.is(store.stream('tracebook.a')!.length, 2)
  assert.equal(nodes.map(({ appends }) => appends.peers.size), [1, 0, 0]) // prettier-ignore
})

// The client asks the seeds in an order of chance: of so many logs some ask the silent one first.
const MANY = 24

test('a seed that is silent takes a part of the time that an append has, not all of it', async ({ open, nodes }) => {
  nodes[2].faults.freeze()
  const logs = Array.from({ length: MANY }, () => open())
  await Promise.all(logs.map((log, i) => log.append(`a-${i}`, 'none', numbered(1))))
  await Promise.all(logs.map((log) => log.head()))
})

test('an append to a leader that falls silent is stored by the next one within its deadline', async ({
  cluster,
  open,
  nodes,
}) => {
  const log = open()
  await log.append('a', 'none', numbered(1))
  nodes[0].faults.freeze()
  const waiting = log.append('a', 0n, numbered(1, 1))
  await until(() => nodes[0].faults.count('append') === 2)
  cluster.elect(nodes[1])
  assert.is((await waiting).revision, 1n)
  assert.equal(bodies(await all(log.read('a'))), ['{"n":0}', '{"n":1}'])
  nodes[0].faults.resume()
  await log.append('a', 1n, numbered(1, 2))
  for (const { store } of nodes) assert.is(store.stream('tracebook.a')!.length, 3)
})

test('a read of a leader that falls silent is answered by the next one within its deadline', async ({
  cluster,
  open,
  nodes,
}) => {
  const log = open()
  await log.append('a', 'none', numbered(2))
  await log.head()
  nodes[0].faults.freeze()
  const reads = [all(log.read('a')), followPrefix(log, 'a', { after: 0n, count: 2 })]
  cluster.elect(nodes[1])
  for (const events of await Promise.all(reads)) assert.equal(bodies(events), ['{"n":0}', '{"n":1}'])
})

const unlessUnavailable = (error: unknown): false => {
  if (error instanceof LogUnavailable) return false
  throw error
}

test('an append that is given up while its leader is looked for is not sent later', async ({ open, nodes }) => {
  const log = open({ deadlineMs: 400 })
  for (const { faults } of nodes) faults.stall('gossip')
  assert.is(((await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable).stored, false)
  for (const { faults } of nodes) faults.resume()
  const events = numbered(1)
  await until(() => log.append('b', 'none', events).then(() => true, unlessUnavailable))
  for (const { store } of nodes) assert.is(store.stream('tracebook.a'), undefined)
})

test.run()
