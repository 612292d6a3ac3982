import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LEAST_CONNECTIONS, SINGLE_CONNECTIONS, poolSizes } from '../../src/postgres/pool-sizes.ts'

const test = suite('pool sizes')

const inAll = (connections: number) =>
  Object.values(poolSizes(connections)).reduce((sum, size) => sum + size, SINGLE_CONNECTIONS.length)

test('use up the connections that there are, and never more', () => {
  for (let connections = LEAST_CONNECTIONS; connections <= 500; connections++)
    assert.is(inAll(connections), connections)
})

test('never shrink when there are more', () => {
  for (let connections = LEAST_CONNECTIONS; connections < 200; connections++)
    for (const [pool, size] of Object.entries(poolSizes(connections)))
      assert.ok(poolSizes(connections + 1)[pool as 'reads'] >= size, `${pool} at ${connections}`)
})

test('leave room in the usual 100 of a server for three processes, psql and a backup', () => {
  assert.equal(poolSizes(28), { reads: 8, log: 4, operations: 3, jobs: 3, limits: 2 })
  assert.ok(3 * inAll(28) + 10 <= 100 - 3) // the last three are the superuser's
})

test.run()
