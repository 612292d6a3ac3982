import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type EventLog,
  type ExpectedRevision,
  type NewEvent,
  WrongRevision,
} from '../../../../src/eventstore/log/log.ts'
import { aStream, all, anAppend, bodies, errorOf, numbered } from '../support/events.ts'
import type { World } from '../support/world.ts'

/** Appends, or reads at once what the conflict names; gives the revision that the stream has then. */
const appendOrRead = async (log: EventLog, stream: string, expected: ExpectedRevision): Promise<bigint> => {
  try {
    return (await log.append(stream, expected, numbered(2))).revision
  } catch (error) {
    assert.instance(error, WrongRevision)
    const { actual } = error as WrongRevision
    const last = await all(log.read(stream, { backwards: true, limit: 1 }))
    assert.is(last[0]?.revision, actual)
    assert.is((await all(log.read(stream))).length, Number(actual) + 1)
    return actual as bigint
  }
}

export const appends = (test: Test<World>): void => {
  test('an append answers with the revision and the position of its last event', async ({ log }) => {
    const stream = aStream()
    const first = await log.append(stream, 'none', numbered(3))
    assert.is(first.revision, 2n)
    const second = await log.append(stream, 2n, numbered(1, 3))
    assert.is(second.revision, 3n)
    const events = await all(log.read(stream))
    assert.equal(bodies(events), ['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}'])
    assert.equal(
      events.map(({ revision }) => revision),
      [0n, 1n, 2n, 3n],
    )
    assert.equal([events[2]!.position, events[3]!.position], [first.position, second.position])
    assert.ok((await log.head()) >= second.position)
  })

  test('an event comes back as it was written', async ({ log, other }) => {
    const stream = aStream()
    const [event] = anAppend('{"text":"ä€𝄞"}')
    await log.append(stream, 'none', [event!])
    const [found] = await all(other.read(stream))
    const { id, type, data, metadata } = found!
    assert.equal({ id, type, data, metadata, stream: found!.stream }, { ...event, stream })
  })

  test('an append without events is refused', async ({ log }) => {
    assert.instance(await errorOf(log.append(aStream(), 'none', [])), RangeError)
  })

  test('an unexpected revision is a conflict that names the current one', async ({ log, other }) => {
    const stream = aStream()
    const missing = (await errorOf(log.append(stream, 0n, numbered(1)))) as WrongRevision
    assert.instance(missing, WrongRevision)
    assert.equal([missing.stream, missing.actual], [stream, 'none'])
    await log.append(stream, 'none', numbered(3))
    for (const expected of ['none', 0n, 1n, 3n, 99n] as const) {
      const conflict = (await errorOf(other.append(stream, expected, numbered(1)))) as WrongRevision
      assert.instance(conflict, WrongRevision)
      assert.is(conflict.actual, 2n)
    }
    assert.is((await all(log.read(stream))).length, 3)
  })

  test('concurrent appends to one stream, each expecting the revision of the one before, succeed in their order', async ({
    log,
  }) => {
    const stream = aStream()
    const chain = Array.from({ length: 100 }, (_, i) =>
      log.append(stream, i === 0 ? 'none' : BigInt(i - 1), numbered(1, i)),
    )
    const answers = await Promise.all(chain)
    assert.equal(
      answers.map(({ revision }) => revision),
      answers.map((_, i) => BigInt(i)),
    )
    assert.equal(
      bodies(await all(log.read(stream))),
      Array.from({ length: 100 }, (_, i) => `{"n":${i}}`),
    )
  })

  test('of two processes that create the same stream one wins', async ({ log, other }) => {
    const races = Array.from({ length: 40 }, async () => {
      const stream = aStream()
      const racers = [log.append(stream, 'none', numbered(2)), other.append(stream, 'none', numbered(2))]
      const outcomes = await Promise.allSettled(racers)
      const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      assert.is(lost.length, 1)
      assert.instance(lost[0], WrongRevision)
      assert.is((await all(log.read(stream))).length, 2)
    })
    await Promise.all(races)
  })

  test('the events behind a conflict can be read at once', async ({ log, other }) => {
    const race = async () => {
      const stream = aStream()
      let revision: ExpectedRevision = 'none'
      for (let round = 0n; round < 10n; round++) {
        const ends: bigint[] = await Promise.all([log, other].map((each) => appendOrRead(each, stream, revision)))
        assert.equal(ends, [round * 2n + 1n, round * 2n + 1n])
        revision = ends[0]!
      }
    }
    await Promise.all(Array.from({ length: 5 }, race))
  })

  test('an append with an event that cannot be stored fails alone, and as a whole', async ({ log }) => {
    const bad = { ...anAppend('{}')[0]!, data: undefined as unknown as string } satisfies NewEvent
    const [badStream, ...streams] = Array.from({ length: 20 }, () => aStream())
    const good = streams.map((stream) => log.append(stream, 'none', numbered(2)))
    assert.instance(await errorOf(log.append(badStream!, 'none', [...numbered(1), bad])), Error)
    assert.is((await Promise.all(good)).length, 19)
    assert.equal(await all(log.read(badStream!)), [])
    await log.append(badStream!, 'none', numbered(1))
  })
}
