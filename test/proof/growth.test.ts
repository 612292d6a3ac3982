import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { leafHashOf } from '../../src/proof/entry.ts'
import { hashEvents } from '../../src/proof/growth.ts'

const test = suite('proof: growth')

test('hashing events of megabytes lets other work run', async () => {
  const event = { stream: 'trace-1', type: 'MessageAdded', metadata: '{}', data: 'x'.repeat(2_000_000) }
  const events = Array.from({ length: 50 }, (_, i) => ({
    ...event,
    id: randomUUID(),
    revision: BigInt(i),
    position: BigInt(i),
  }))
  let isOver = false
  let turns = 0
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const hashed = await hashEvents(events)
  isOver = true
  assert.ok(turns > 2, `${turns} turns`)
  assert.equal(
    hashed.map(({ hash }) => hash),
    events.map(leafHashOf),
  )
})

test.run()
