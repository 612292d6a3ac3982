import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { durationText, spanText } from '../../src/cli/duration-text.ts'

const test = suite('durations as text')

test('times are shown in minutes and seconds, and in hours where there are some', () => {
  const shown = [0, 0.4, 59.6, 61, 3_599.4, 3_599.6, 36_061].map(durationText)
  assert.equal(shown, ['0:00', '0:00', '1:00', '1:01', '59:59', '1:00:00', '10:01:01'])
})

test('a span is told in words', () => {
  assert.equal([10_000, 60_000, 120_000, 600_000, 7_400].map(spanText), [
    ...['10 seconds', '60 seconds', '2 minutes', '10 minutes', '8 seconds'],
  ])
})

test.run()
