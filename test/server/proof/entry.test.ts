import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { entryOf, leafHashOf, parseEntry, rawLeafHash } from '../../../src/server/proof/entry.ts'
import { naiveLeaf } from './naive.ts'

const test = suite('proof/entry')

const event = {
  id: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b',
  stream: 'trace-1',
  type: 'MessageAdded',
  metadata: '{"at":1,"schema":1}',
  data: '{"b":12345678901234567890,"a":"\\u0000\\ud800 é \\"quoted\\" 😀"}',
}

test('an entry is the recorded texts of an event as five strings, unchanged', () => {
  const text =
    '["0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b","trace-1","MessageAdded","{\\"at\\":1,\\"schema\\":1}",' +
    '"{\\"b\\":12345678901234567890,\\"a\\":\\"\\\\u0000\\\\ud800 é \\\\\\"quoted\\\\\\" 😀\\"}"]'
  assert.is(entryOf(event), text)
  assert.is(entryOf({ ...event, position: 7n, revision: 3n } as never), text)
  assert.equal(leafHashOf(event), naiveLeaf(text))
  assert.equal(parseEntry(text), event)
})

test('any other text is not read as an entry', () => {
  for (const text of ['', '{}', '[]', '["a","b","c","d"]', '["a","b","c","d",5]', '["a","b","c","d","e","f"]'])
    assert.is(parseEntry(text), undefined, text)
})

/** Any text that UTF-8 can hold. */
const text = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())

const anyEvent = fc.record({ id: text, stream: text, type: text, metadata: text, data: text })

/** The raw hashes of some events, whose texts are joined. */
const rawHashes = (events: readonly Parameters<typeof leafHashOf>[0][]): Buffer[] => {
  const parts = events.flatMap(({ id, stream, type, metadata, data }) => [id, stream, type, metadata, data])
  let end = 0
  const ends = parts.map((part) => (end += Buffer.byteLength(part)))
  return events.map((_, i) => rawLeafHash(Buffer.from(parts.join('')), ends, 5 * i))
}

test('the raw hash of an event is its leaf hash', () =>
  fc.assert(
    fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 3 }), (events) =>
      assert.equal(rawHashes(events), events.map(leafHashOf)),
    ),
    { numRuns: 500 },
  ))

test('a large event, and one that is large once it is escaped, have a raw hash, too', () => {
  const small = { id: 'i', stream: 's', type: 't', metadata: '{}', data: '' }
  for (const [text, count] of [
    ['"é\u0000', 100_000],
    ['\u0000', 60_000],
    ['😀\\', 30_000],
  ] as const) {
    const large = { ...small, data: text.repeat(count) }
    const events = [small, large, { ...small, metadata: large.data }, small]
    assert.equal(rawHashes(events), events.map(leafHashOf))
  }
})

test.run()
