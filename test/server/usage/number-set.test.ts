import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newNumberSet } from '../../../src/server/usage/number-set.ts'

const test = suite('sets of numbers')

test('have as many numbers as a set', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10_000 })), (numbers) => {
      const set = newNumberSet()
      for (const number of numbers) set.add(number)
      assert.is(set.size(), new Set(numbers).size)
    }),
  )
})

test.run()
