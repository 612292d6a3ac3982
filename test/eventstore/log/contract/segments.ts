import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventLog, type NewEvent, WrongRevision, expectedOf } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import {
  aStream,
  all,
  anAppend,
  bodies,
  errorOf,
  essence,
  followPrefix,
  numbered,
  readPrefix,
} from '../support/events.ts'
import { bodyOf, leaveOrphans, segmentsOf } from '../support/segments.ts'
import type { World } from '../support/world.ts'

const maxAppendBytes = 300

/** Over the limit together, and one of them alone. */
const large = (n = 0) =>
  anAppend(bodyOf(120, n), bodyOf(130, n + 1), bodyOf(1_000, n + 2), bodyOf(40, n + 3), bodyOf(120, n + 4))

/** Over the limit only together. */
const short = (n = 0) => anAppend(bodyOf(200, n), bodyOf(200, n + 1))

/** Writes appends to a stream each, segment by segment in turn. */
const interleave = async (bare: EventLog, prefix: string, appends: readonly NewEvent[][]) => {
  const parts = await Promise.all(appends.map((events) => segmentsOf(bare, events)))
  const ends = appends.map(() => -1n)
  for (let round = 0; parts.some((segments) => round < segments.length); round++)
    for (const [i, segments] of parts.entries())
      if (segments[round])
        ends[i] = (await bare.append(`${prefix}-${i}`, expectedOf(ends[i]!), segments[round]!)).revision
}

/** As if one command had appended to several streams. */
const underOneId = (events: readonly NewEvent[]) =>
  events.map((event) => ({
    ...event,
    metadata: event.metadata.replace(/"append":{"id":"[^"]+"/, '"append":{"id":"one"'),
  }))

export const segments = (test: Test<World>): void => {
  test('an append over the limit comes back whole for every reader', async ({ open }) => {
    const [log, other] = [open({ maxAppendBytes }), open({ maxAppendBytes })]
    const prefix = aStream()
    const after = await log.head()
    const events = large()
    assert.ok((await segmentsOf(log, events)).length > 3)
    const { revision, position } = await log.append(prefix, 'none', events)
    await log.append(prefix, revision, numbered(2))
    const expected = bodies([...events, ...numbered(2)])
    for (const each of [log, other]) {
      const read = await all(each.read(prefix))
      assert.equal(bodies(read), expected)
      assert.equal(
        read.slice(0, 5).map(({ id, type, metadata }) => [id, type, metadata]),
        events.map(({ id, type, metadata }) => [id, type, metadata]),
      )
      assert.equal([read[4]!.revision, read[4]!.position], [revision, position])
      assert.equal((await all(each.read(prefix, { backwards: true }))).map(essence), read.map(essence).toReversed())
      assert.equal((await readPrefix(each, prefix)).map(essence), read.map(essence))
      assert.equal((await followPrefix(each, prefix, { after, count: 7 })).map(essence), read.map(essence))
    }
  })

  test('an event that is stored in chunks is found at the position where it ends', async ({ open }) => {
    const log = open({ maxAppendBytes })
    const [stream, events] = [aStream(), anAppend(`"${'x'.repeat(3 * maxAppendBytes)}"`)]
    const { position } = await log.append(stream, 'none', events)
    const [event] = await all(log.read(stream))
    assert.equal([event!.position, event!.id], [position, events[0]!.id])
    assert.is(await log.holds(position, event!.id), true)
    assert.is((await log.last(stream))?.id, event!.id)
  })

  test('no batch of a follower holds a part of an append', async ({ open }) => {
    const log = open({ maxAppendBytes })
    const prefix = aStream()
    const stop = new AbortController()
    const batches = log.follow({ after: await log.head(), signal: stop.signal })
    const writing = Promise.all([0, 1, 2].map((i) => log.append(`${prefix}-${i}`, 'none', large())))
    let left = 15
    for await (const { events } of batches) {
      const ours = events.filter(({ stream }) => stream.startsWith(prefix))
      assert.is(ours.length % 5, 0)
      left -= ours.length
      if (left === 0) break
    }
    await writing
  })

  test('orphans of a crash are invisible, but the revision has moved', async ({ open, openBare }) => {
    const [bare, log] = [openBare({ maxAppendBytes }), open({ maxAppendBytes })]
    const prefix = aStream()
    const after = await log.head()
    await leaveOrphans(bare, prefix, 'none', large())
    const orphans = await all(bare.read(prefix))
    assert.ok(orphans.length >= 2)
    const following = followPrefix(log, prefix, { after, count: 2 })
    assert.equal(await all(log.read(prefix)), [])
    assert.equal(await all(log.read(prefix, { backwards: true })), [])
    assert.equal(await readPrefix(log, prefix), [])
    const conflict = (await errorOf(log.append(prefix, 'none', numbered(1)))) as WrongRevision
    assert.instance(conflict, WrongRevision)
    assert.is(conflict.actual, orphans.at(-1)!.revision)
    assert.is((await log.last(prefix))?.revision, conflict.actual)
    const events = numbered(2)
    await log.append(prefix, conflict.actual, events)
    for (const seen of [await all(log.read(prefix)), await readPrefix(log, prefix), await following])
      assert.equal(bodies(seen), bodies(events))
    assert.equal(bodies(await all(log.read(prefix, { backwards: true }))), bodies(events).toReversed())
  })

  test('an interrupted append is completed by repeating it', async ({ open, openBare }) => {
    const [bare, log] = [openBare({ maxAppendBytes }), open({ maxAppendBytes })]
    const stream = aStream()
    const events = large()
    await leaveOrphans(bare, stream, 'none', events)
    const answer = await log.append(stream, 'none', events)
    assert.equal(await log.append(stream, 'none', events), answer)
    assert.equal(bodies(await all(log.read(stream))), bodies(events))
  })

  test('an interrupted append that is repeated at the new revision is stored once', async ({ open, openBare }) => {
    const [bare, log] = [openBare({ maxAppendBytes }), open({ maxAppendBytes })]
    const prefix = aStream()
    const events = large()
    await leaveOrphans(bare, prefix, 'none', events)
    await log.append(prefix, expectedOf((await all(bare.read(prefix))).at(-1)!.revision), events)
    assert.equal(bodies(await all(log.read(prefix))), bodies(events))
    assert.equal(bodies(await all(log.read(prefix, { backwards: true }))), bodies(events).toReversed())
    assert.equal(bodies(await readPrefix(log, prefix)), bodies(events))
    assert.equal(bodies(await followPrefix(log, prefix, { after: 0n, count: 5 })), bodies(events))
  })

  for (const [shape, make] of Object.entries({ short, large }))
    test(`appends whose segments are interleaved come back whole: ${shape} ones`, async ({ openBare }) => {
      const bare = openBare({ maxAppendBytes })
      const log = wholeAppends(bare)
      const prefix = aStream()
      const after = await log.head()
      const appends = [make(), make(10), make(20)].map(underOneId)
      await interleave(bare, prefix, appends)
      const expected = bodies(appends.flat())
      assert.equal(bodies(await followPrefix(log, prefix, { after, count: expected.length })), expected)
      assert.equal(bodies(await readPrefix(log, prefix)), expected)
    })
}
