import { randomBytes } from 'node:crypto'
import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { expectedOf, type RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { aStream, all, anAppend, essence, followPrefix, readPrefix } from '../support/events.ts'
import type { World } from '../support/world.ts'

const odd = {
  'a NUL': String.raw`{"a":"x\u0000y"}`,
  'lone surrogates': String.raw`{"a":"\ud800","b":"\udc00\ud800"}`,
  'a key __proto__': '{"__proto__":{"constructor":{"prototype":1}}}',
  'integers beyond 2^53': '{"n":9007199254740993,"m":-12345678901234567890123}',
  'numbers in their own spelling': '{"n":[1.0,1e2,-0,0.10,1E-7]}',
  'key order and doubles': '{"b":1,"2":2,"a":3,"1":4,"b":5}',
  blanks: ' {\t"a" :\r\n [ 1 ,2 ] } ',
  'escapes in their own spelling': String.raw`{"a":"\u00e4\/\u000a","\u0061":""}`,
  'text beyond ASCII': '{"ä€":"𝄞\u2028\u007f\u0085\uffff"}',
  scalars: '"text"',
  null: 'null',
  'nothing in it': '{}',
  depth: `${'['.repeat(400)}${']'.repeat(400)}`,
}

const MiB = 1024 * 1024

/** Events of 3 KB, with and without letters beyond ASCII: an adapter may store several of them as one. */
const spacious = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ n: i, text: i % 3 === 0 ? randomBytes(2_250).toString('base64') : `ä ${i} `.repeat(400) }),
  )

/** 16 MiB in which no two stretches are the same. */
const large = () => {
  const words = Array.from({ length: MiB }, (_, i) => `${i.toString(36)}ä"\\`.padEnd(14, '.'))
  return `{"text":${JSON.stringify(words.join(''))}}`
}

export const bodies = (test: Test<World>): void => {
  for (const [what, data] of Object.entries(odd))
    test(`a body comes back unchanged: ${what}`, async ({ log, other }) => {
      const prefix = aStream()
      const after = await log.head()
      const [event] = anAppend(data)
      const metadata = event!.metadata.replace('{', String.raw`{ "odd":["\u0000\ud800",9007199254740993], `)
      await log.append(prefix, 'none', [{ ...event!, metadata }])
      for (const each of [log, other]) {
        const [read] = await all(each.read(prefix))
        assert.is(read!.data, data)
        assert.is(read!.metadata, metadata)
        const followed = await followPrefix(each, prefix, { after, count: 1 })
        assert.equal(followed.map(essence), [essence(read!)])
      }
    })

  test('events of some kilobytes are read from any place on, and truncated up to any', async ({ log, other }) => {
    const prefix = aStream()
    const data = spacious(150)
    const numbers = async (source: AsyncIterable<RecordedEvent>) =>
      (await all(source)).map((event) => data.indexOf(event.data))
    const after = await log.head()
    for (let from = 0; from < data.length; from += 75)
      await log.append(prefix, expectedOf(BigInt(from - 1)), anAppend(...data.slice(from, from + 75)))
    const last = await log.last(prefix)
    for (let begin = 0; begin < data.length; begin = begin * 2 + 37) {
      await log.truncate(prefix, BigInt(begin))
      const left = [...data.keys()].slice(begin)
      for (const each of [log, other]) {
        assert.equal(await numbers(each.read(prefix)), left)
        const from = BigInt(begin + 3)
        assert.equal(await numbers(each.read(prefix, { from, limit: 9 })), left.slice(3, 12))
        assert.equal(await numbers(each.read(prefix, { backwards: true })), left.toReversed())
        const some = [3, 4, 36, 37, 74, 75, 112, 149]
        assert.equal(
          await numbers(each.readRevisions(prefix, some.map(BigInt))),
          some.filter((place) => place >= begin),
        )
        const read = await readPrefix(each, prefix, after)
        assert.equal(
          read.map((event) => data.indexOf(event.data)),
          left,
        )
        assert.equal(await each.last(prefix), last)
      }
    }
  })

  test('a body of 16 MiB comes back unchanged, among small ones', async ({ log, other }) => {
    const stream = aStream()
    const after = await log.head()
    const data = large()
    assert.ok(Buffer.byteLength(data) >= 16 * MiB)
    await log.append(stream, 'none', anAppend('{"n":0}', data, '{"n":2}'))
    for (const each of [log, other]) {
      const read = await all(each.read(stream))
      assert.is(read.length, 3)
      assert.ok(read[1]!.data === data, 'read')
      const followed = await followPrefix(each, stream, { after, count: 3 })
      assert.ok(followed[1]!.data === data, 'followed')
    }
  })
}
