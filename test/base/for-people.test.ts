import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { bytesText, percentDone, sessionLengthText } from '../../src/base/for-people.ts'

const test = suite('texts for people')
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test('a duration has its two largest units, as whole numbers', () => {
  assert.is(sessionLengthText(0), 'less than 1 s')
  assert.is(sessionLengthText(12_900), '12 s')
  assert.is(sessionLengthText(MINUTE), '1 min')
  assert.is(sessionLengthText(3 * MINUTE + 20_000), '3 min 20 s')
  assert.is(sessionLengthText(2 * HOUR + 5 * MINUTE + 59_000), '2 h 5 min')
  assert.is(sessionLengthText(HOUR + 30_000), '1 h')
})

test('a session over which a night went by says over which time it is spread', () => {
  assert.is(sessionLengthText(12 * HOUR - 1), '11 h 59 min')
  assert.is(sessionLengthText(15 * HOUR + 20 * MINUTE), 'over 15 h')
  assert.is(sessionLengthText(3 * DAY + 3_000), 'over 3 d')
  assert.is(sessionLengthText(1_234 * DAY + 4 * HOUR), 'over 1,234 d')
  const short = () => 'short'
  assert.equal([sessionLengthText(HOUR, short), sessionLengthText(DAY, short)], ['short', 'over 1 d'])
})

test('progress is the part of the way from the beginning to the end', () => {
  assert.is(percentDone(0n, 45_988_351n, 270_508_394n), 17)
  assert.is(percentDone(200n, 250n, 300n), 50)
  assert.is(percentDone(0n, 999n, 1_000n), 99)
})

test('progress is 0 at the beginning and 100 at the end, even if both are the same or the end has been passed', () => {
  assert.equal(
    [percentDone(7n, 7n, 9n), percentDone(0n, 9n, 9n), percentDone(9n, 9n, 9n), percentDone(0n, 9n, 7n)],
    [0, 100, 100, 100],
  )
  assert.is(percentDone(7n, 3n, 9n), 0)
})

test('bytes are in the largest unit of which there is one', () => {
  assert.equal([0, 999, 1_000, 1_449, 99_500, 999_000, 3_200_000_000, 12e12, 5e18].map(bytesText), [
    ...['0 bytes', '999 bytes', '1.0 kB', '1.4 kB', '100 kB', '999 kB', '3.2 GB', '12 TB', '5,000 PB'],
  ])
})

test.run()
