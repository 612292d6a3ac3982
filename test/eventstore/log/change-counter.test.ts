import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newChangeCounter } from '../../../src/eventstore/log/change-counter.ts'

const LONG_MS = 60_000

test('a wait ends with the next change, and at once when the count has changed already', async () => {
  const version = newChangeCounter()
  const since = version.count()
  const changes = [1, 2].map(() => version.changed(since, LONG_MS, new AbortController().signal))
  assert.ok(version.isAwaited())
  version.increment()
  assert.equal(await Promise.all(changes), [true, true])
  assert.ok(await version.changed(since, LONG_MS, new AbortController().signal))
  assert.not(version.isAwaited())
})

test('a wait ends at its timeout or with its signal, and leaves no listener', async () => {
  const version = newChangeCounter()
  const stop = new AbortController()
  const aborted = version.changed(version.count(), LONG_MS, stop.signal)
  stop.abort()
  assert.not(await aborted)
  assert.not(await version.changed(version.count(), LONG_MS, stop.signal), 'aborted before')
  assert.not(await version.changed(version.count(), 1, new AbortController().signal))
  assert.not(version.isAwaited())
})

test.run()
