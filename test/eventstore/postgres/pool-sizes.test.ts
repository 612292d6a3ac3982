import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { minConnections, poolSizes, singleConnections } from '../../../src/eventstore/postgres/pool-sizes.ts'

const test = suite('pool sizes')

const inAll = (connections: number, groups: number) =>
  Object.values(poolSizes(connections, groups)).reduce((sum, size) => sum + size, singleConnections(groups))

test('use all available connections, and never more', () => {
  for (const groups of [1, 2, 5])
    for (let connections = minConnections(groups); connections <= 500; connections++)
      assert.is(inAll(connections, groups), connections)
})

test('never shrink if more connections are available', () => {
  for (let connections = minConnections(2); connections < 200; connections++)
    for (const [pool, size] of Object.entries(poolSizes(connections, 2)))
      assert.ok(poolSizes(connections + 1, 2)[pool as 'reads'] >= size, `${pool} at ${connections}`)
})

test('leave room in the usual 100 of a server for two processes, psql and a backup', () => {
  assert.equal(poolSizes(37, 4), {
    ...{ reads: 6, log: 3, operations: 3, jobs: 2, limits: 1 },
    ...{ timeline: 2, search: 2, attribution: 1 },
  })
  assert.ok(2 * inAll(37, 4) + 10 <= 100 - 3) // the last three are the superuser's
})

test.run()
