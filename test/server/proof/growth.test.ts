import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { leafHashOf } from '../../../src/server/proof/entry.ts'
import { newEventHashing } from '../../../src/server/proof/growth.ts'

const test = suite('proof: growth')

test('hashing events of megabytes lets other work run, and they have the hash of their entries', async () => {
  const event = { stream: 'trace-1', type: 'MessageAdded', metadata: '{}', data: '{"é😀\u2028\\":"x"}'.repeat(130_000) }
  const events = Array.from({ length: 50 }, (_, i) => ({
    ...event,
    id: randomUUID(),
    revision: BigInt(i),
    position: BigInt(i),
    ...(i % 10 === 0 ? { data: '{}' } : {}),
  }))
  let isOver = false
  let turns = 0
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const hashing = newEventHashing()
  const hashed = await hashing.hash(events)
  isOver = true
  await hashing.close()
  assert.ok(turns > 2, `${turns} turns`)
  assert.equal(
    hashed.map(({ hash }) => hash),
    events.map(leafHashOf),
  )
})

test.run()
