import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folded } from '../../../../src/base/folded.ts'
import { occurrences } from '../../../../src/server/trace/messages/occurrences.ts'

const test = suite('trace: occurrences of a text in another')

const count = (text: string, wanted: string) =>
  [...occurrences(text, folded(wanted))].reduce((sum, found) => sum + found, 0)

const countPlainly = (text: string, wanted: string) => folded(text).split(folded(wanted)).length - 1

test('occurrences across the cuts of a long text are counted', () => {
  assert.is(count('aaaaa', 'AA'), 2)
  assert.is(count('short', 'longer than that'), 0)
  const pair = '\u{10400}' // two code units, of which each may be the last of a slice
  const property = fc.property(
    fc.integer({ min: 65_520, max: 65_545 }),
    fc.constantFrom('ab', 'aba', pair, `${pair}a`, 'b'.repeat(20)),
    (before, wanted) => {
      const text = `${'x'.repeat(before)}${wanted.toUpperCase().repeat(5)}${'y'.repeat(70_000)}${wanted}`
      assert.is(count(text, wanted), countPlainly(text, wanted))
    },
  )
  fc.assert(property, { numRuns: 200 })
  const text = 'aB'.repeat(100_001)
  for (const wanted of ['ab', 'aba', 'babab']) assert.is(count(text, wanted), countPlainly(text, wanted))
})

test.run()
