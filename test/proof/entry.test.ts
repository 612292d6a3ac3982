import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { entryOf, leafHashOf, parseEntry, rawLeafHash, rawText } from '../../src/proof/entry.ts'
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

test('the raw hash of an event is its leaf hash', () =>
  fc.assert(
    fc.property(text, text, text, text, text, (id, stream, type, metadata, data) => {
      const raw = [stream, type, metadata, data].map(rawText) as [string, string, string, string]
      assert.equal(rawLeafHash(rawText(id), ...raw), leafHashOf({ id, stream, type, metadata, data }))
    }),
    { numRuns: 500 },
  ))

test('an event larger than the buffer has a raw hash, too', () => {
  const data = '"é\u0000'.repeat(100_000)
  const event = { id: 'i', stream: 's', type: 't', metadata: '{}', data }
  assert.equal(rawLeafHash('i', 's', 't', '{}', rawText(data)), leafHashOf(event))
})

test.run()
