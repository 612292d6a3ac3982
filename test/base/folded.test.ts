import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { folded } from '../../src/base/folded.ts'

const test = suite('base: case folding of texts')

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

test.run()
