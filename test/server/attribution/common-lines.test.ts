import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newCommonLines } from '../../../src/server/attribution/common-lines.ts'

const test = suite('attribution: common lines')

const MINUTE = 60_000

test('what was found out of a line is known for ten minutes', () => {
  const lines = newCommonLines()
  assert.is(lines.has(1n, 0), undefined)
  lines.note(1n, true, 0)
  lines.note(2n, false, 0)
  assert.equal([lines.has(1n, 9 * MINUTE), lines.has(2n, 9 * MINUTE)], [true, false])
  assert.equal([lines.has(1n, 10 * MINUTE), lines.has(2n, 10 * MINUTE)], [undefined, undefined])
  lines.note(1n, false, 10 * MINUTE)
  assert.is(lines.has(1n, 19 * MINUTE), false)
})

test.run()
