import fc from 'fast-check'
import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventLog, expectedOf } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { aStream, all, anAppend, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { bodyOf, leaveOrphans } from '../support/segments.ts'
import type { World } from '../support/world.ts'

type Small = { readonly log: EventLog; readonly bare: EventLog }

const openSmall = ({ openBare }: World, maxAppendBytes = 300): Small => {
  const bare = openBare({ maxAppendBytes })
  return { log: wholeAppends(bare), bare }
}

const large = () => anAppend(bodyOf(200, 0), bodyOf(700, 1), bodyOf(200, 2), bodyOf(500, 3))

/** A stream with small appends, large ones and orphans, the same in each test. */
const writeMixed = async ({ log, bare }: Small, stream: string) => {
  const end = async () => expectedOf((await all(bare.read(stream, { backwards: true, limit: 1 })))[0]?.revision ?? -1n)
  await log.append(stream, await end(), numbered(2))
  await log.append(stream, await end(), large())
  await leaveOrphans(bare, stream, await end(), large())
  await log.append(stream, await end(), numbered(1))
  await leaveOrphans(bare, stream, await end(), large())
  await log.append(stream, await end(), large())
}

export const segmentReads = (test: Test<World>): void => {
  test('a read may start and end anywhere within segments', async (world) => {
    const stream = aStream()
    const small = openSmall(world)
    const { log, bare } = small
    await writeMixed(small, stream)
    const events = await all(log.read(stream))
    assert.is(events.length, 11)
    for (const { revision: from } of await all(bare.read(stream)))
      for (const limit of [1, 3, 100]) {
        const later = events.filter(({ revision }) => revision >= from).slice(0, limit)
        assert.equal((await all(log.read(stream, { from, limit }))).map(essence), later.map(essence))
        const older = events.toReversed().filter(({ revision }) => revision <= from)
        const back = await all(log.read(stream, { from, limit, backwards: true }))
        assert.equal(back.map(essence), older.slice(0, limit).map(essence))
      }
  })

  test('events that were stored in chunks are read by their revisions', async (world) => {
    const stream = aStream()
    const small = openSmall(world)
    await writeMixed(small, stream)
    const events = await all(small.log.read(stream))
    for (const some of [events, events.slice(3, 4), events.filter((_, i) => i % 3 === 0)]) {
      const revisions = some.map(({ revision }) => revision)
      assert.equal((await all(small.log.readRevisions(stream, revisions))).map(essence), some.map(essence))
    }
  })

  test('a reader that starts in the middle of an append gets all of it, and nothing twice', async (world) => {
    const stream = aStream()
    const small = openSmall(world)
    const { log, bare } = small
    await writeMixed(small, stream)
    const events = await all(log.read(stream))
    const ends = [1, 5, 6, 10].map((i) => events[i]!.position)
    for (const { position: after } of await all(bare.read(stream))) {
      const first = [0, 2, 6, 7, 11][ends.filter((end) => end <= after).length]!
      const expected = events.slice(first).map(essence)
      assert.equal((await readPrefix(log, stream, after)).map(essence), expected)
      const followed = expected.length > 0 ? await followPrefix(log, stream, { after, count: expected.length }) : []
      assert.equal(followed.map(essence), expected)
    }
  })

  test('a truncation anywhere removes whole events, and never the last', async (world) => {
    const small = openSmall(world)
    const { log } = small
    for (let before = 0n; before <= 36n; before += 3n) {
      const stream = aStream()
      await writeMixed(small, stream)
      const events = await all(log.read(stream))
      await log.truncate(stream, before)
      const kept = events.filter((event, i) => event.revision >= before || i === events.length - 1).map(essence)
      assert.equal((await all(log.read(stream))).map(essence), kept)
      assert.equal((await all(log.read(stream, { backwards: true }))).map(essence), kept.toReversed())
      assert.equal((await readPrefix(log, stream)).map(essence), kept)
      assert.equal((await followPrefix(log, stream, { after: 0n, count: kept.length })).map(essence), kept)
    }
  })

  test('appends of any size, with any segment limit, are read as they were written', async ({ openBare }) => {
    const sizes = fc.array(fc.array(fc.nat(900), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })
    const [mine, theirs] = [openBare(), openBare()]
    const property = async (limit: number, appends: number[][]) => {
      const [log, other] = [mine, theirs].map((bare) => wholeAppends({ ...bare, maxAppendBytes: limit })) as [
        EventLog,
        EventLog,
      ]
      const [prefix, after] = [aStream(), await log.head()]
      const written = appends.map((append) => anAppend(...append.map((bytes, i) => bodyOf(bytes, i))))
      const ends = new Map<string, bigint>()
      for (const [i, events] of written.entries()) {
        const stream = `${prefix}-${i % 2}`
        ends.set(stream, (await log.append(stream, expectedOf(ends.get(stream) ?? -1n), events)).revision)
      }
      const expected = written.flat().map(({ id, data, metadata }) => ({ id, data, metadata }))
      const count = expected.length
      for (const seen of [await followPrefix(log, prefix, { after, count }), await readPrefix(other, prefix, after)])
        assert.equal(
          seen.map(({ id, data, metadata }) => ({ id, data, metadata })),
          expected,
        )
      for (const stream of ends.keys()) {
        const forwards = (await all(log.read(stream))).map(essence)
        assert.equal((await all(other.read(stream, { backwards: true }))).map(essence), forwards.toReversed())
      }
    }
    await fc.assert(fc.asyncProperty(fc.integer({ min: 60, max: 1_000 }), sizes, property), {
      numRuns: 25,
      includeErrorInReport: true,
    })
  })
}
