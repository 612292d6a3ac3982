import * as assert from 'uvu/assert'
import { startNeighbour } from '../../../support/eventstoredb/neighbour.ts'
import { until } from '../../../support/until.ts'
import { anAppend, followPrefix, numbered } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'

const test = eventStoreSuite('wake-ups by EventStoreDB')

const APPENDS = 20
const BODY = JSON.stringify('x'.repeat(1_400))

test('a follower is woken without the events, which it reads itself', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  let seen = 0
  const follow = async () => {
    for await (const { events } of log.follow({ after: 0n, signal: stop.signal })) seen += events.length
  }
  const following = follow()
  /** The bytes that wake the follower, which waits for each append. */
  const bytesOf = async (name: string, size: number) => {
    const before = double.subscriptions.sentBytes()
    for (let i = 0; i < APPENDS; i++) {
      await until(() => double.subscriptions.count() === 1)
      const wanted = seen + size
      await other.append(`${name}-${i}`, 'none', anAppend(...Array.from({ length: size }, () => BODY)))
      await until(() => seen === wanted)
    }
    return double.subscriptions.sentBytes() - before
  }
  // As events they would have 1,400 bytes each at least.
  for (const size of [1, 10]) {
    const bytes = await bytesOf(`of-${size}`, size)
    assert.ok(bytes > 0 && bytes < 40 * size * APPENDS, `${bytes} bytes for ${APPENDS} appends of ${size} events`)
  }
  stop.abort()
  await following
})

test('others who write more often do not wake followers all the time', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const following = followPrefix(log, 'a', { after: 0n, count: 60 })
  await until(() => double.subscriptions.count() === 1)
  const neighbour = startNeighbour(double, 1)
  try {
    await until(() => double.faults.count('subscribe') === 2 && double.subscriptions.count() === 1)
    const [reads, written] = [double.faults.count('read'), double.store.all().length]
    await until(() => double.store.all().length > written + 300)
    assert.ok(double.faults.count('read') - reads < 100, 'not one for each of their events')
  } finally {
    neighbour.stop()
  }
  for (let i = 0; i < 60; i++) {
    await until(() => double.subscriptions.count() === 1)
    await other.append(`a-${i}`, 'none', numbered(1, i))
  }
  assert.is((await following).length, 60)
})

test.run()
