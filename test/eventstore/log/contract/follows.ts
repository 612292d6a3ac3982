import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Batch, EventLog, RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { aStream, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import type { World } from '../support/world.ts'

const WRITERS = 8
const ROUNDS = 25

/** Writers that append 1 to 3 events at a time to a stream each; gives the number of all events. */
const writeSome = async (log: EventLog, prefix: string): Promise<number> => {
  const writer = async (name: number) => {
    let revision = 0
    for (let round = 0; round < ROUNDS; round++) {
      const count = 1 + ((round + name) % 3)
      await log.append(`${prefix}-${name}`, revision === 0 ? 'none' : BigInt(revision - 1), numbered(count, revision))
      revision += count
    }
    return revision
  }
  const counts = await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(i)))
  return counts.reduce((sum, count) => sum + count, 0)
}

const total = Array.from(
  { length: WRITERS * ROUNDS },
  (_, i) => 1 + ((Math.floor(i / WRITERS) + (i % WRITERS)) % 3),
).reduce((sum, count) => sum + count)

/** The events that a follower still gives until it ends. */
const toEnd = async (batches: AsyncIterable<Batch>): Promise<RecordedEvent[]> => {
  const events: RecordedEvent[] = []
  for await (const batch of batches) events.push(...batch.events)
  return events
}

const nextOf = async (batches: AsyncIterator<Batch>) => (await batches.next()).value as Batch

export const follows = (test: Test<World>): void => {
  test('a follower during writes misses nothing and sees the order of the log', async ({ log, other }) => {
    const prefix = aStream()
    const start = await log.head()
    const [count, ...seen] = await Promise.all([
      writeSome(log, prefix),
      ...[log, other, log].map((each) => followPrefix(each, prefix, { after: start, count: total })),
      followPrefix(other, prefix, { after: 0n, count: total }),
    ])
    assert.is(count, total)
    const stored = (await readPrefix(log, prefix)).map(essence)
    for (const events of seen) assert.equal(events.map(essence), stored)
  })

  test('a follower starts at the given position', async ({ log, other }) => {
    const prefix = aStream()
    await log.append(`${prefix}-a`, 'none', numbered(3))
    await log.append(`${prefix}-b`, 'none', numbered(3))
    const events = await readPrefix(log, prefix)
    const after = events[2]!.position
    for (const each of [log, other]) {
      const seen = await followPrefix(each, prefix, { after, count: 3 })
      assert.equal(seen.map(essence), events.slice(3).map(essence))
    }
  })

  test('a follower can start in the middle of an append', async ({ openBare }) => {
    const [bare, other] = [openBare(), openBare()]
    const stream = aStream()
    await bare.append(stream, 'none', numbered(5))
    const events = await readPrefix(bare, stream)
    for (const each of [bare, other]) {
      const seen = await followPrefix(each, stream, { after: events[1]!.position, count: 3 })
      assert.equal(seen.map(essence), events.slice(2).map(essence))
    }
  })

  test('a follower at the end waits for the next append, from its own and from another process', async (world) => {
    for (const reader of [world.log, world.other]) {
      const prefix = aStream()
      const after = await world.log.head()
      const seen = followPrefix(reader, prefix, { after, count: 2 })
      await world.log.append(`${prefix}-a`, 'none', numbered(1))
      await world.log.append(`${prefix}-b`, 'none', numbered(1))
      assert.equal((await seen).map(essence), (await readPrefix(world.log, prefix)).map(essence))
    }
  })

  test('no event at or before `through` comes later', async ({ log }) => {
    const prefix = aStream()
    const after = await log.head()
    const stop = new AbortController()
    const writing = writeSome(log, prefix)
    let [through, left] = [after, total]
    for await (const batch of log.follow({ after, signal: stop.signal })) {
      for (const { position } of batch.events) assert.ok(position > through && position <= batch.through)
      assert.ok(batch.through > through || (batch.through === through && batch.events.length === 0))
      through = batch.through
      left -= batch.events.filter(({ stream }) => stream.startsWith(prefix)).length
      if (left <= 0) break
    }
    assert.is(await writing, total)
  })

  test('a follower learns that nothing has happened', async ({ log }) => {
    const after = await log.head()
    const stop = new AbortController()
    let silent = 0
    for await (const { events, through } of log.follow({ after, signal: stop.signal })) {
      assert.is(events.length, 0)
      assert.ok(through >= after) // a server that others use writes for itself
      if (++silent === 2) break
    }
  })

  test('abort ends a follower, waiting or not', async ({ log, other }) => {
    for (const each of [log, other]) {
      const stop = new AbortController()
      const ended = toEnd(each.follow({ after: await log.head(), signal: stop.signal }))
      stop.abort()
      assert.equal(await ended, [])
      assert.is((await each.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]().next()).done, true)
    }
  })

  test('closing a log ends its followers', async ({ log, open }) => {
    const closing = open()
    const ended = toEnd(closing.follow({ after: await log.head(), signal: new AbortController().signal }))
    await closing.close()
    assert.equal(await ended, [])
  })

  test('a slow follower is not overrun, and gets everything afterwards', async ({ log, other }) => {
    const prefix = aStream()
    const after = await log.head()
    const stop = new AbortController()
    const slow = [log, other].map((each) => each.follow({ after, signal: stop.signal })[Symbol.asyncIterator]())
    const firsts = slow.map(nextOf)
    for (let i = 0; i < 20; i++) await log.append(`${prefix}-${i}`, 'none', numbered(400))
    const stored = (await readPrefix(log, prefix)).map(essence)
    for (const [i, batches] of slow.entries()) {
      const seen: string[] = []
      for (let batch = await firsts[i]!; ; batch = await nextOf(batches)) {
        assert.ok(batch.events.length <= 2_000, 'batches are bounded')
        seen.push(...batch.events.map(essence))
        if (seen.length >= stored.length) break
      }
      assert.equal(seen, stored)
    }
    stop.abort()
    await Promise.all(slow.map(async (batches) => batches.return?.()))
  })
}
