import { randomInt } from 'node:crypto'
import { EventStoreDBClient } from '@eventstore/db-client'
import * as assert from 'uvu/assert'
import { parseAddress } from '../../../../src/eventstore/log/eventstoredb/address.ts'
import { newRetryingRead } from '../../../../src/eventstore/log/eventstoredb/retrying-client.ts'
import { newConnection } from '../../../../src/eventstore/log/eventstoredb/connection.ts'
import { newServerReads } from '../../../../src/eventstore/log/eventstoredb/server-reads.ts'
import { type FilteredReadSource, newFilteredRead } from '../../../../src/eventstore/log/eventstoredb/filtered-read.ts'
import { newOwnStreams } from '../../../../src/eventstore/log/eventstoredb/own-streams.ts'
import type { Batch, EventLog } from '../../../../src/eventstore/log/log.ts'
import { type Double, startDouble } from '../../../support/eventstoredb/server.ts'
import { failure } from '../../../support/eventstoredb/faults.ts'
import { all, anAppend, bodies, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { bodyOf } from '../support/segments.ts'

const test = eventStoreSuite('what is not ours in EventStoreDB')

const credentials = { username: 'admin', password: 'changeit' }

/** A filtered read alone; `change` may replace the reads that it makes besides. */
const newScene = (
  double: Double,
  maxMs = 60_000,
  change = (source: FilteredReadSource): FilteredReadSource => source,
) => {
  const address = parseAddress(double.url)
  const connection = newConnection(address)
  const retryingRead = newRetryingRead(connection, 5_000)
  const serverReads = newServerReads(retryingRead, address, 5_000)
  const options = { credentials, ownStreams: newOwnStreams('tracebook.'), maxMs }
  return { readFiltered: newFilteredRead(retryingRead, change(serverReads), options), close: connection.close }
}

/** Follows until it has come to the end that the log has now. */
const followToEnd = async (log: EventLog): Promise<Batch[]> => {
  const stop = new AbortController()
  const [batches, end]: [Batch[], bigint] = [[], await log.head()]
  for await (const batch of log.follow({ after: 0n, signal: stop.signal })) {
    batches.push(batch)
    if (batch.through >= end) break
  }
  stop.abort()
  return batches
}

test('followers and readers pass many events of other applications in few reads', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  await log.append('a', 'none', numbered(2))
  double.store.writeForeign(40_000)
  await log.append('a', 1n, numbered(2, 2))
  double.store.writeForeign(40_000)
  await log.append('a', 3n, numbered(1, 4))
  const before = double.faults.count('read')
  const seen = await followPrefix(log, 'a', { after: 0n, count: 5 })
  assert.equal(bodies(seen), ['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
  assert.equal((await all(other.readAll({ after: 0n }))).map(essence), seen.map(essence))
  assert.ok(double.faults.count('read') - before < 40, 'in pages there would be 160')
})

test('a log without events is at its end at once', async ({ open, double }) => {
  double.store.writeForeign(100_000)
  const batches = await followToEnd(open())
  assert.equal(
    batches.flatMap(({ events }) => events),
    [],
  )
  assert.ok(double.faults.count('read') < 20)
})

for (const saysCaughtUp of [true, false])
  test(`followers get everything in order${saysCaughtUp ? '' : ', on an older server'}`, async ({ open }) => {
    const double = await startDouble({ saysCaughtUp })
    const [log, other] = [open({ url: double.url }), open({ url: double.url })]
    const ends = new Map<string, bigint>()
    for (let round = 0; round < 30; round++) {
      double.store.writeForeign(randomInt(3) * randomInt(2_500))
      const stream = `a-${randomInt(8)}`
      const end = ends.get(stream)
      ends.set(stream, (await log.append(stream, end ?? 'none', numbered(1 + randomInt(250), round))).revision)
      if (end && randomInt(3) === 0) await log.truncate(stream, end)
      if (round % 10 === 9) double.store.scavenge()
    }
    const batches = await followToEnd(other)
    let through = 0n
    for (const batch of batches) {
      for (const { position } of batch.events) assert.ok(position > through && position <= batch.through)
      through = batch.through
    }
    const seen = batches.flatMap(({ events }) => events)
    const stored = await Promise.all([...ends.keys()].map((stream) => all(log.read(stream))))
    const expected = stored.flat().toSorted((a, b) => (a.position < b.position ? -1 : 1))
    assert.equal(seen.map(essence), expected.map(essence))
    await double.stop()
  })

test('after failed or ended subscriptions nothing is missing', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  for (let i = 0; i < 10; i++) {
    double.store.writeForeign(3_000)
    await other.append(`a-${i}`, 'none', anAppend(bodyOf(400_000, i), bodyOf(400_000, i)))
  }
  const following = followPrefix(log, 'a', { after: 0n, count: 20 })
  double.faults.failNext('subscribe', failure(14, 'Connection dropped'), 3)
  await double.reset()
  assert.equal((await following).map(essence), (await readPrefix(other, 'a')).map(essence))
})

test('a filtered read may begin anywhere, also at a scavenged event', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(6))
  double.store.writeForeign(50)
  await log.append('b', 'none', numbered(4))
  const places = double.store.all().map(({ position }) => position)
  const events = await all(log.readAll({ after: 0n }))
  await log.truncate('a', 5n)
  await log.truncate('b', 2n)
  double.store.scavenge()
  const left = events.filter(({ stream, revision }) => revision >= (stream === 'a' ? 5n : 2n))
  const { readFiltered, close } = newScene(double)
  for (const after of [0n, ...places]) {
    const page = (await readFiltered(after))!
    const seen = page.events.filter(({ stream }) => stream.startsWith('tracebook.'))
    assert.equal(
      seen.map(({ id }) => id),
      left.filter(({ position }) => position > after).map(({ id }) => id),
    )
    assert.equal([page.through, page.isComplete], [await log.head(), true])
  }
  await close()
})

test('a scavenge during a filtered read is noticed, and its result is not used', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(3))
  const [first, second] = await all(log.readAll({ after: 0n }))
  await log.truncate('a', 1n)
  double.store.scavenge()
  let asked = 0
  /** What was found at the beginning is gone before the subscription begins there. */
  const change = (source: FilteredReadSource): FilteredReadSource => ({
    ...source,
    recordAt: async (position) => {
      const found = await source.recordAt(position)
      if (asked++ > 0) return found
      await log.truncate('a', 2n)
      double.store.scavenge()
      return found
    },
  })
  const { readFiltered, close } = newScene(double, 60_000, change)
  assert.is(await readFiltered(first!.position), undefined)
  const { events } = (await readFiltered(second!.position))!
  assert.equal(
    events.filter(({ stream }) => stream === 'tracebook.a').map(({ revision }) => revision),
    [2n],
  )
  await close()
})

test('a filtered read that takes long stops at an examined position, and the next one goes on from there', async ({
  open,
  double,
}) => {
  const log = open()
  for (let i = 0; i < 5; i++) {
    // So that a checkpoint names each of our events, which has not been looked at then.
    double.store.writeForeign(1_000 * (i + 1) - double.store.all().length)
    await log.append('a', i === 0 ? 'none' : BigInt(i - 1), numbered(1, i))
  }
  const { readFiltered, close } = newScene(double, 0)
  const seen: string[] = []
  let [after, steps] = [0n, 0]
  for (;;) {
    const page = (await readFiltered(after))!
    seen.push(...page.events.map(({ data }) => data))
    assert.ok(
      double.store.all().some(({ position }) => position === page.through),
      'a place to read from',
    )
    after = page.through
    steps += 1
    if (page.isComplete) break
  }
  assert.ok(steps >= 5)
  assert.equal(seen, ['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
  assert.is(await readFiltered(after), undefined, 'there is nothing more')
  await close()
})

test('a filtered read uses the leader only, because another node may lag behind', async ({ open, double, another }) => {
  await open().append('a', 'none', numbered(1))
  const { readFiltered, close } = newScene(double)
  const leader = await another()
  leader.store.writeForeign(10)
  double.faults.setLeader('127.0.0.1', leader.port)
  assert.equal((await readFiltered(0n))?.events ?? [], [])
  await close()
})

test('events that other applications write during a filtered read are left to the next one', async ({
  open,
  double,
}) => {
  const log = open()
  double.store.writeForeign(5_000)
  const client = EventStoreDBClient.connectionString(double.url)
  const { readFiltered, close } = newScene(double, 60_000, (source) => ({
    ...source,
    head: async () => {
      const end = await source.head()
      await log.append('late', 'none', numbered(3))
      return end
    },
  }))
  const end = double.store.all().at(-1)!.position
  const page = (await readFiltered(0n))!
  assert.equal([page.events.length, page.through, page.isComplete], [0, end, true])
  await Promise.all([client.dispose(), close()])
})

test.run()
