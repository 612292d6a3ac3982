import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { lastingText } from '../src/lasting-text.ts'

const test = suite('how long something took')
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

test('is said in its two largest units, without parts of them', () => {
  assert.is(lastingText(0), 'less than 1 s')
  assert.is(lastingText(12_900), '12 s')
  assert.is(lastingText(MINUTE), '1 min')
  assert.is(lastingText(3 * MINUTE + 20_000), '3 min 20 s')
  assert.is(lastingText(2 * HOUR + 5 * MINUTE + 59_000), '2 h 5 min')
  assert.is(lastingText(HOUR + 30_000), '1 h')
  assert.is(lastingText(1_234 * DAY + 4 * HOUR), '1,234 d 4 h')
})

test.run()
