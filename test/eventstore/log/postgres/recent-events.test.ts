import { randomUUIDv7 } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { newRecentEvents } from '../../../../src/eventstore/log/postgres/recent-events.ts'

/** Events at these positions, of a thousand bytes each. */
const events = (...positions: number[]): RecordedEvent[] =>
  positions.map((position) => {
    const place = { stream: 'trace-1', revision: BigInt(position), position: BigInt(position) }
    return { ...place, id: randomUUIDv7(), type: 'Happened', data: 'x'.repeat(800), metadata: '' }
  })

const positions = (found: readonly RecordedEvent[] | undefined) => found?.map(({ position }) => Number(position))

test('a reader gets the events after its position, and undefined if they are not cached any more', () => {
  const recent = newRecentEvents(1_000_000)
  const reader = recent.read()
  recent.publish(events(5, 6))
  recent.publish(events(7))
  assert.equal(positions(reader.eventsAfter(3n)), undefined)
  assert.equal(positions(reader.eventsAfter(4n)), [5, 6, 7])
  assert.equal(positions(reader.eventsAfter(5n)), [6, 7])
})

test('a batch is dropped once the slowest reader has passed it', () => {
  const recent = newRecentEvents(1_000_000)
  const [fast, slow] = [recent.read(), recent.read()]
  recent.publish(events(1, 2))
  recent.publish(events(3, 4))
  slow.eventsAfter(0n)
  fast.eventsAfter(4n)
  assert.equal(positions(slow.eventsAfter(1n)), [2, 3, 4])
  slow.eventsAfter(2n)
  assert.equal(positions(slow.eventsAfter(0n)), undefined, 'both have passed the first batch')
  assert.equal(positions(slow.eventsAfter(2n)), [3, 4])
})

test('a reader that is so far behind that it reads the log keeps no batches', () => {
  const recent = newRecentEvents(1_000_000)
  const [fast, lagging] = [recent.read(), recent.read()]
  recent.publish(events(10, 11))
  assert.equal(positions(lagging.eventsAfter(5n)), undefined, 'it has to read the log')
  fast.eventsAfter(11n)
  recent.publish(events(12, 13))
  assert.equal(positions(lagging.eventsAfter(9n)), undefined, 'the first batch is dropped')
  assert.equal(positions(lagging.eventsAfter(11n)), [12, 13], 'it has caught up')
  fast.eventsAfter(13n)
  assert.equal(positions(lagging.eventsAfter(11n)), [12, 13], 'it keeps the batch')
})

test('erased events are left out, all others are returned', () => {
  const recent = newRecentEvents(1_000_000)
  const reader = recent.read()
  const others = events(8, 9).map((event) => ({ ...event, stream: 'trace-2' }))
  recent.publish(events(5, 6, 7))
  recent.publish(others)
  recent.publish(events(10, 11))
  recent.drop('trace-1', 11n)
  assert.equal(positions(reader.eventsAfter(7n)), [8, 9, 11])
  assert.equal(positions(reader.eventsAfter(4n)), undefined, 'only the log knows what there is')
  recent.publish(events(12))
  assert.equal(positions(reader.eventsAfter(8n)), [9, 11, 12])
})

test('the end of the log is known until another process may have written', () => {
  const recent = newRecentEvents(1_000_000)
  const reader = recent.read()
  assert.equal(positions(reader.eventsAfter(0n)), undefined)
  reader.reachedEnd(recent.count())
  recent.publish(events(1, 2))
  assert.equal(positions(reader.eventsAfter(2n)), [])
  recent.wake()
  assert.equal(positions(reader.eventsAfter(2n)), undefined)
})

test('the end is unknown if the notification of another process overtakes the answer to an append', () => {
  const recent = newRecentEvents(1_000_000)
  const reader = recent.read()
  reader.reachedEnd(recent.count())
  const before = recent.count()
  recent.wake() // it has written 3
  recent.publish(events(1, 2))
  assert.equal(positions(reader.eventsAfter(2n)), undefined)
  reader.reachedEnd(before)
  assert.equal(positions(reader.eventsAfter(2n)), undefined, 'that look began too early')
  reader.reachedEnd(recent.count())
  assert.equal(positions(reader.eventsAfter(2n)), [])
})

test('a reader that has left keeps nothing in memory', () => {
  const recent = newRecentEvents(1_000_000)
  const [one, gone] = [recent.read(), recent.read()]
  recent.publish(events(1, 2))
  gone.eventsAfter(0n)
  gone.leave()
  one.eventsAfter(2n)
  assert.equal(positions(one.eventsAfter(0n)), undefined)
})

test('when their total size is exceeded the oldest batches are dropped, passed or not', () => {
  const recent = newRecentEvents(2_500)
  const reader = recent.read()
  reader.eventsAfter(0n)
  for (const position of [1, 2, 3]) recent.publish(events(position))
  assert.equal(positions(reader.eventsAfter(0n)), undefined)
  assert.equal(positions(reader.eventsAfter(1n)), [2, 3])
})

test('a reader gets no more at a time than fits its buffer', () => {
  const recent = newRecentEvents(100_000_000)
  const reader = recent.read()
  const data = 'x'.repeat(1_500_000)
  for (const position of [1, 2, 3, 4, 5]) recent.publish(events(position).map((event) => ({ ...event, data })))
  assert.equal(positions(reader.eventsAfter(0n)), [1, 2])
  assert.equal(positions(reader.eventsAfter(4n)), [5])
})

test('a gap caused by another writer drops the batches before it', () => {
  const recent = newRecentEvents(1_000_000)
  const reader = recent.read()
  recent.publish(events(1))
  recent.publish(events(3))
  assert.equal(positions(reader.eventsAfter(0n)), undefined)
  assert.equal(positions(reader.eventsAfter(2n)), [3])
})

test.run()
