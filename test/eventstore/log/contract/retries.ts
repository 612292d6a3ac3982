import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ExpectedRevision, WrongRevision } from '../../../../src/eventstore/log/log.ts'
import { aStream, all, anAppend, bodies, errorOf, essence, followPrefix, numbered } from '../support/events.ts'
import type { World } from '../support/world.ts'

export const retries = (test: Test<World>): void => {
  test('a repeated append gets the same answer and stores nothing', async ({ log, other }) => {
    for (const before of [0, 2]) {
      const stream = aStream()
      if (before > 0) await log.append(stream, 'none', numbered(before))
      const expected: ExpectedRevision = before > 0 ? BigInt(before - 1) : 'none'
      const events = numbered(3, before)
      const first = await log.append(stream, expected, events)
      assert.equal(await log.append(stream, expected, events), first)
      assert.equal(await other.append(stream, expected, events), first)
      await log.append(stream, first.revision, numbered(2, before + 3))
      assert.equal(await log.append(stream, expected, events), first, 'also when others have followed')
      assert.is((await all(log.read(stream))).length, before + 5)
    }
  })

  test('an append that is made many times at once is stored once', async ({ log, other }) => {
    const stream = aStream()
    const events = numbered(2)
    const answers = await Promise.all([log, other, log, other].map((each) => each.append(stream, 'none', events)))
    for (const answer of answers) assert.equal(answer, answers[0])
    assert.is((await all(log.read(stream))).length, 2)
  })

  test('an append of only the first events counts as a repetition too', async ({ log }) => {
    const stream = aStream()
    const events = numbered(3)
    await log.append(stream, 'none', events)
    assert.is((await log.append(stream, 'none', events.slice(0, 2))).revision, 1n)
    assert.is((await all(log.read(stream))).length, 3)
  })

  test('only an append with the same ids is a repetition', async ({ log }) => {
    const stream = aStream()
    const events = numbered(2)
    await log.append(stream, 'none', events)
    await log.append(stream, 1n, numbered(2, 2))
    const others = [
      [numbered(2), 'other ids'],
      [[...events, ...numbered(1)], 'one more event than was stored'],
      [[numbered(1)[0]!, events[1]!], 'another first one'],
      [[events[0]!, numbered(1)[0]!], 'another last one'],
    ] as const
    for (const [attempt, what] of others)
      assert.instance(await errorOf(log.append(stream, 'none', attempt)), WrongRevision, what)
    assert.is((await all(log.read(stream))).length, 4)
  })

  test('a repetition under another revision is a conflict', async ({ log }) => {
    const stream = aStream()
    const events = numbered(1)
    await log.append(stream, 'none', numbered(1))
    await log.append(stream, 0n, events)
    await log.append(stream, 1n, numbered(1))
    assert.instance(await errorOf(log.append(stream, 'none', events)), WrongRevision)
  })

  test('the first text stored stays, also for followers in the same process', async ({ log, other }) => {
    const prefix = aStream()
    const after = await log.head()
    const events = anAppend('{"said":"first"}')
    await other.append(`${prefix}-a`, 'none', events)
    const changed = events.map((event) => ({ ...event, data: '{"said":"second"}' }))
    await Promise.all([log.append(`${prefix}-a`, 'none', changed), log.append(`${prefix}-b`, 'none', numbered(1))])
    const seen = await followPrefix(log, prefix, { after, count: 2 })
    assert.ok(bodies(seen).includes('{"said":"first"}'), bodies(seen).join())
    const read = (await all(log.readAll({ after }))).filter(({ stream }) => stream.startsWith(prefix))
    assert.equal(seen.map(essence), read.map(essence))
  })
}
