import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endTime, startTime } from '../../../src/commands/declared/values.ts'

const test = suite('times on the command line')
const now = Date.UTC(2026, 0, 31, 12)
const HOUR = 3_600_000

test('an age counts back from now, and a date is a whole day in the local time zone', () => {
  for (const read of [startTime, endTime]) {
    assert.is(read('12h', now), now - 12 * HOUR)
    assert.is(read('7d', now), now - 7 * 24 * HOUR)
    assert.is(read('2w', now), now - 14 * 24 * HOUR)
    assert.is(read('2026-01-02T03:04:05Z', now), Date.UTC(2026, 0, 2, 3, 4, 5))
    assert.is(read('2026-01-02T03:04+01:00', now), Date.UTC(2026, 0, 2, 2, 4))
    assert.is(read('2026-01-02T03:04', now), new Date(2026, 0, 2, 3, 4).getTime())
  }
  assert.is(startTime('2026-01-31', now), new Date(2026, 0, 31).getTime())
  assert.is(endTime('2026-01-31', now), new Date(2026, 1, 1).getTime())
})

test('anything else is refused with examples of what is accepted', () => {
  for (const text of ['', 'yesterday', '2026-02-30', '2026-13-01', '7', '7y', '2026-01-02T25:00', '1767366245000'])
    for (const read of [startTime, endTime])
      assert.throws(
        () => read(text, now),
        (error: Error) => error.message.includes('such as 2026-01-31'),
        text,
      )
})

test.run()
