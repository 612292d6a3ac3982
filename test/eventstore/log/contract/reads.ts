import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { expectedOf } from '../../../../src/eventstore/log/log.ts'
import { aStream, all, bodies, numbered, readPrefix } from '../support/events.ts'
import type { World } from '../support/world.ts'

const LONG = 2_300

export const reads = (test: Test<World>): void => {
  test('a stream is read in both directions, from and to any revision', async ({ log, other }) => {
    const stream = aStream()
    await log.append(stream, 'none', numbered(4))
    await log.append(stream, 3n, numbered(6, 4))
    const events = await all(log.read(stream))
    for (const from of [undefined, 0n, 3n, 5n, 9n, 10n, 500n])
      for (const limit of [undefined, 0, 1, 4, 100])
        for (const reader of [log, other]) {
          const options = { ...(from === undefined ? {} : { from }), ...(limit === undefined ? {} : { limit }) }
          const later = events.filter(({ revision }) => revision >= (from ?? 0n)).slice(0, limit)
          assert.equal(bodies(await all(reader.read(stream, options))), bodies(later))
          const older = events.toReversed().filter(({ revision }) => revision <= (from ?? 99n))
          const back = await all(reader.read(stream, { ...options, backwards: true }))
          assert.equal(bodies(back), bodies(older.slice(0, limit)))
        }
  })

  test('events are read by their revisions, without those that were erased', async ({ log, other }) => {
    const stream = aStream()
    await log.append(stream, 'none', numbered(40))
    const read = async (reader: typeof log, ...revisions: bigint[]) =>
      bodies(await all(reader.readRevisions(stream, revisions)))
    for (const reader of [log, other]) {
      assert.equal(await read(reader), [])
      assert.equal(await read(reader, 3n, 4n, 7n, 39n), ['{"n":3}', '{"n":4}', '{"n":7}', '{"n":39}'])
      assert.equal(await read(reader, 5n, 40n, 41n), ['{"n":5}'])
    }
    await log.truncate(stream, 7n)
    assert.equal(await read(other, 3n, 4n, 7n, 39n), ['{"n":7}', '{"n":39}'])
  })

  test('the last event of a stream is known at once, to every process, and is found at its position', async ({
    log,
    other,
  }) => {
    const stream = aStream()
    assert.is(await log.last(stream), undefined)
    for (let [revision, count] = [-1n, 3]; revision < 12n; count = 1) {
      const events = numbered(count)
      const appended = await log.append(stream, expectedOf(revision), events)
      revision = appended.revision
      const { id } = events.at(-1)!
      for (const each of [log, other]) {
        const last = await each.last(stream)
        assert.equal([last?.revision, last?.position, last?.id], [revision, appended.position, id])
        assert.is(await each.holds(appended.position, id), true)
        assert.is(await each.holds(appended.position, numbered(1)[0]!.id), false)
      }
    }
    await log.truncate(stream, 100n)
    for (const each of [log, other]) assert.is((await each.last(stream))?.revision, 12n)
  })

  test('a stream without events is read as empty', async ({ log }) => {
    assert.equal(await all(log.read(aStream())), [])
    assert.equal(await all(log.read(aStream(), { backwards: true })), [])
  })

  test('a long stream is read to its end', async ({ log, other }) => {
    const stream = aStream()
    for (let revision = 0; revision < LONG; revision += 575)
      await log.append(stream, revision === 0 ? 'none' : BigInt(revision - 1), numbered(575, revision))
    const expected = Array.from({ length: LONG }, (_, i) => `{"n":${i}}`)
    assert.equal(bodies(await all(other.read(stream))), expected)
    assert.equal(bodies(await all(other.read(stream, { backwards: true }))), expected.toReversed())
    assert.equal(bodies(await all(other.read(stream, { from: 500n, limit: 1_500 }))), expected.slice(500, 2_000))
    assert.equal(bodies(await readPrefix(other, stream)), expected)
  })

  test('the whole log is read after a position, in the order of positions', async ({ log }) => {
    const prefix = aStream()
    const before = await log.head()
    for (let i = 0; i < 5; i++) await log.append(`${prefix}-${i}`, 'none', numbered(1, i))
    const events = await readPrefix(log, prefix, before)
    assert.equal(bodies(events), ['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
    for (const [i, event] of events.entries()) if (i > 0) assert.ok(event.position > events[i - 1]!.position)
    assert.equal(bodies(await readPrefix(log, prefix, events[2]!.position)), ['{"n":3}', '{"n":4}'])
    assert.equal(await readPrefix(log, prefix, events[4]!.position), [])
    assert.equal(await all(log.readAll({ after: before, limit: 0 })), [])
    assert.is((await all(log.readAll({ after: before, limit: 2 }))).length, 2)
    assert.equal(await all(log.readAll({ after: await log.head() })), [])
  })

  test('there are no events after the head, in any process', async ({ log, other }) => {
    const { position } = await log.append(aStream(), 'none', numbered(2))
    for (const each of [log, other]) {
      const head = await each.head()
      assert.ok(head >= position)
      assert.equal(await all(each.readAll({ after: head })), [])
    }
  })

  test('a read that is abandoned early leaves nothing behind', async ({ log }) => {
    const stream = aStream()
    const after = await log.head() // a server may hold much that is not ours
    await log.append(stream, 'none', numbered(50))
    for (let i = 0; i < 150; i++) {
      for await (const { revision } of log.read(stream)) if (revision === 2n) break
      for await (const { position } of log.readAll({ after })) if (position > after) break
    }
    assert.is((await all(log.read(stream))).length, 50)
  })
}
