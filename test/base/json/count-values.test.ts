import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { countValues } from '../../../src/base/json/count-values.ts'
import { runs } from '../../support/runs.ts'

const test = suite('json: counting values')

const valuesOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce<number>((sum, each) => sum + valuesOf(each), 1)
    : 1

test('the count is of the values that parsing would return, whatever white space and strings contain', () => {
  const json = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' })
  const tricky = fc.constantFrom('"', '\\', '\\"', '[', '{,', '}', ' ', 'x')
  const text = fc.array(tricky).map((pieces) => pieces.join(''))
  const value = fc.oneof(json, fc.array(text), fc.dictionary(text, json))
  fc.assert(
    fc.property(value, fc.nat(3), (each, indent) => {
      const written = JSON.stringify(each, undefined, indent)
      assert.is(countValues(Buffer.from(written)), valuesOf(JSON.parse(written)), written)
    }),
    { numRuns: runs(500) },
  )
})

test('counting stops where there are too many values', () => {
  assert.is(countValues(Buffer.from(`[${'0,'.repeat(1_000)}0]`), 10), 11)
})

test('counting ends for text that is not JSON', () => {
  for (const text of ['', '"', '"\\"', '[[[', '}}}', ',,,', '\\']) assert.ok(countValues(Buffer.from(text)) >= 1)
})

test.run()
