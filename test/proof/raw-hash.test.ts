import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { leafHashOf } from '../../src/proof/entry.ts'
import { rawLeafHash, rawText } from '../../src/proof/raw-hash.ts'

const test = suite('proof/raw-hash')

/** Any text that UTF-8 can hold. */
const text = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())

test('hashes bytes like the text that they encode', () =>
  fc.assert(
    fc.property(text, text, text, text, text, (id, stream, type, metadata, data) => {
      const raw = [stream, type, metadata, data].map(rawText) as [string, string, string, string]
      assert.equal(rawLeafHash(rawText(id), ...raw), leafHashOf({ id, stream, type, metadata, data }))
    }),
    { numRuns: 500 },
  ))

test('hashes input larger than its buffer', () => {
  const data = '"é\u0000'.repeat(100_000)
  const event = { id: 'i', stream: 's', type: 't', metadata: '{}', data }
  assert.equal(rawLeafHash('i', 's', 't', '{}', rawText(data)), leafHashOf(event))
})

test.run()
