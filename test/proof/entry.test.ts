import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { entryOf, leafHashOf, parseEntry } from '../../src/proof/entry.ts'
import { naiveLeaf } from './naive.ts'

const test = suite('proof/entry')

const event = {
  id: '0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b',
  stream: 'trace-1',
  type: 'MessageAdded',
  metadata: '{"at":1,"schema":1}',
  data: '{"b":12345678901234567890,"a":"\\u0000\\ud800 é \\"quoted\\" 😀"}',
}

test('is the recorded texts as five strings, unchanged', () => {
  const text =
    '["0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b","trace-1","MessageAdded","{\\"at\\":1,\\"schema\\":1}",' +
    '"{\\"b\\":12345678901234567890,\\"a\\":\\"\\\\u0000\\\\ud800 é \\\\\\"quoted\\\\\\" 😀\\"}"]'
  assert.is(entryOf(event), text)
  assert.is(entryOf({ ...event, position: 7n, revision: 3n } as never), text)
  assert.equal(leafHashOf(event), naiveLeaf(text))
  assert.equal(parseEntry(text), event)
})

test('accepts nothing else', () => {
  for (const text of ['', '{}', '[]', '["a","b","c","d"]', '["a","b","c","d",5]', '["a","b","c","d","e","f"]'])
    assert.is(parseEntry(text), undefined, text)
})

test.run()
