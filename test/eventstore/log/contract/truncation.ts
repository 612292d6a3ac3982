import { randomUUID } from 'node:crypto'
import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { aStream, all, bodies, followPrefix, numbered, readPrefix } from '../support/events.ts'
import type { World } from '../support/world.ts'

const tail = ['{"n":6}', '{"n":7}', '{"n":8}', '{"n":9}']

export const truncation = (test: Test<World>): void => {
  test('truncated events are gone for every reader', async ({ log, other, open }) => {
    const prefix = aStream()
    await log.append(prefix, 'none', numbered(4))
    await log.append(prefix, 3n, numbered(6, 4))
    await log.append(`${prefix}-beside`, 'none', numbered(1, 100))
    await log.truncate(prefix, 6n)
    for (const each of [log, other, open()]) {
      assert.equal(bodies(await all(each.read(prefix))), tail)
      assert.equal(bodies(await all(each.read(prefix, { from: 2n, limit: 2 }))), tail.slice(0, 2))
      assert.equal(bodies(await all(each.read(prefix, { backwards: true }))), tail.toReversed())
      assert.equal(await all(each.read(prefix, { backwards: true, from: 5n })), [])
      assert.equal(bodies(await readPrefix(each, prefix)), [...tail, '{"n":100}'])
    }
    for (const each of [log, open()]) {
      const seen = await followPrefix(each, prefix, { after: 0n, count: 5 })
      assert.equal(bodies(seen), [...tail, '{"n":100}'])
    }
    const [first] = await all(log.read(prefix))
    assert.is(first!.revision, 6n)
  })

  test('the last event stays, whatever is asked for', async ({ log }) => {
    for (const before of [9n, 10n, 1_000n]) {
      const stream = aStream()
      await log.append(stream, 'none', numbered(10))
      await log.truncate(stream, before)
      assert.equal(bodies(await all(log.read(stream))), ['{"n":9}'])
    }
  })

  test('truncating nothing, less than before or a missing stream changes nothing', async ({ log }) => {
    const stream = aStream()
    await log.append(stream, 'none', numbered(10))
    for (const before of [0n, 6n, 6n, 2n]) await log.truncate(stream, before)
    assert.equal(bodies(await all(log.read(stream))), tail)
    await log.truncate(aStream(), 5n)
  })

  test('nothing is truncated for an event that the log does not hold', async ({ log }) => {
    const stream = aStream()
    await log.append(stream, 'none', numbered(4))
    await log.append(stream, 3n, numbered(6, 4))
    const [event] = await all(log.read(stream, { from: 8n, limit: 1 }))
    const { position, id } = event!
    await log.truncate(stream, 6n, { position, id: randomUUID() })
    await log.truncate(stream, 6n, { position: position + 1_000_000n, id })
    assert.is((await all(log.read(stream))).length, 10)
    await log.truncate(stream, 6n, { position, id })
    assert.equal(bodies(await all(log.read(stream))), tail)
  })

  test('the stream goes on with its next revision', async ({ log, other }) => {
    const stream = aStream()
    await log.append(stream, 'none', numbered(10))
    await log.truncate(stream, 100n)
    assert.is((await other.append(stream, 9n, numbered(1, 10))).revision, 10n)
    assert.equal(bodies(await all(log.read(stream))), ['{"n":9}', '{"n":10}'])
    await log.truncate(stream, 10n)
    assert.equal(bodies(await all(log.read(stream))), ['{"n":10}'])
  })

  test('followers pass a truncation', async ({ log, other }) => {
    const prefix = aStream()
    const after = await log.head()
    const seen = [log, other].map((each) => followPrefix(each, `${prefix}-kept`, { after, count: 40 }))
    for (let i = 0; i < 20; i++) {
      await log.append(`${prefix}-gone-${i}`, 'none', numbered(5))
      await Promise.all([
        log.truncate(`${prefix}-gone-${i}`, 5n),
        log.append(`${prefix}-kept-${i}`, 'none', numbered(2, i)),
      ])
    }
    const expected = Array.from({ length: 20 }, (_, i) => [`{"n":${i}}`, `{"n":${i + 1}}`]).flat()
    for (const events of seen) assert.equal(bodies(await events), expected)
  })
}
