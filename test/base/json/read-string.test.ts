import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readString } from '../../../src/base/json/read-string.ts'

const test = suite('json: long strings')

const read = (json: string, step: number) => {
  const reading = readString(json, step)
  for (let steps = 0; ; steps++) {
    const { done, value } = reading.next()
    if (done) return { text: value, steps }
  }
}

/** Any character as an escape of six, beside those that `JSON.stringify` makes. */
const escaped = (text: string) =>
  `"${[...text].map((one) => one.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('')}"`

test('a text is the same wherever it is cut', () => {
  const characters = fc.constantFrom('\\', '"', 'u', '\n', '\u001b', 'a', '🙂', '\ud800', '0')
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 40 }), fc.integer({ min: 6, max: 20 }), (parts, step) => {
      const text = parts.join('')
      for (const json of [JSON.stringify(text), escaped(text)]) assert.is(read(json, step).text, text)
    }),
    { numRuns: 1_000 },
  )
})

test('no step reads more than its share', () => {
  const json = JSON.stringify('\u001b'.repeat(100_000))
  assert.ok(read(json, 1_000).steps >= json.length / 1_000 - 1)
})

test.run()
