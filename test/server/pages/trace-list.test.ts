import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { FeedTrace } from '../../../src/contract/feed.ts'
import { traceList } from '../../../src/server/pages/trace-list.ts'

const now = Date.UTC(2026, 10, 29, 12)
const DAY = 86_400_000

const shown = (times: Partial<FeedTrace>): string => {
  const trace = {
    ...{ id: '1', externalId: 's-1', agentId: 'a', visibility: 'private', namespace: { id: '2', slug: 'ada' } },
    ...{ createdAt: now, updatedAt: now, ...times },
  } as FeedTrace
  return traceList([trace], { order: 'startedAt', hasNamespaces: false, now }).source
}

test('a session of some days says over which time it is spread', () => {
  assert.match(shown({ startedAt: now - 3 * DAY - 5_000, endedAt: now - 2_000 }), '<small>over 3 d</small>')
  assert.match(shown({ startedAt: now - 9_660_000, endedAt: now }), '<small>2 h 41 m</small>')
})

test('a session with times too far ahead stands where it came, is marked, and has no length', () => {
  const ahead = shown({ startedAt: Date.UTC(2099), endedAt: Date.UTC(2099) + 5_000 })
  assert.match(ahead, 'clock ahead')
  assert.match(ahead, '2026-11-29T12:00')
  assert.not.match(ahead, '2099')
  assert.not.match(ahead, '<small>5 s</small>')
  assert.not.match(shown({ startedAt: now - 5_000, endedAt: now }), 'clock ahead')
})

test.run()
