import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isAhead, isSessionAhead, timeOrArrival } from '../../src/base/time-ahead.ts'

const test = suite('times that are too far ahead')
const DAY = 86_400_000

test('a time of a client counts until two days after it came, a later one as its arrival', () => {
  assert.equal([isAhead(2 * DAY, 0), isAhead(2 * DAY + 1, 0), isAhead(-1, 0)], [false, true, false])
  assert.equal(
    [5, 5 + 2 * DAY, 6 + 2 * DAY, null, undefined].map((time) => timeOrArrival(time, 5)),
    [5, 5 + 2 * DAY, 5, 5, 5],
  )
})

test('a session is ahead if its start is, seen from its creation, or its end, seen from its last change', () => {
  assert.not.ok(isSessionAhead({ createdAt: 0 }))
  assert.not.ok(isSessionAhead({ createdAt: 0, updatedAt: 9 * DAY, startedAt: 0, endedAt: 9 * DAY }))
  assert.ok(isSessionAhead({ createdAt: 0, updatedAt: 9 * DAY, startedAt: 3 * DAY, endedAt: 9 * DAY }))
  assert.ok(isSessionAhead({ createdAt: 0, updatedAt: 1, startedAt: 0, endedAt: 3 * DAY }))
  assert.ok(isSessionAhead({ createdAt: 0, endedAt: 3 * DAY }))
})

test.run()
