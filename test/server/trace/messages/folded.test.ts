import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folded, occurrences } from '../../../../src/server/trace/messages/folded.ts'

const test = suite('trace: case folding of texts')

/** All letters that have another case. */
const cased = Array.from({ length: 0x20000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((letter) => /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u.test(letter))

test('texts are equal if and only if they are equal by the simple case folding of regular expressions', () => {
  const lines = cased.join('\n')
  const byFold = Map.groupBy(cased, folded)
  for (const letter of cased) {
    const expected = lines.match(new RegExp(`^${letter}$`, 'gimu'))
    assert.equal(byFold.get(folded(letter)), [...expected!], letter)
    assert.is(folded(letter).length, letter.length)
  }
})

test('a letter is folded in the same way at any place', () => {
  assert.is(folded('ΑΣ ΑΣΑ \u0130I'), 'ασ ασα \u0130i')
})

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
