import { getEventListeners } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { orAborted } from '../../src/base/waits.ts'
import { errorOf } from '../eventstore/log/support/events.ts'

test('orAborted settles like the promise, and leaves no listener at the signal', async () => {
  const { signal } = new AbortController()
  for (let i = 0; i < 1_000; i++) assert.is(await orAborted(Promise.resolve(i), signal), i)
  const failure = new Error('away')
  assert.is(await errorOf(orAborted(Promise.reject(failure), signal)), failure)
  assert.is(getEventListeners(signal, 'abort').length, 0)
})

test('orAborted returns nothing once the signal is aborted, before or meanwhile', async () => {
  const stop = new AbortController()
  const waiting = orAborted(new Promise(() => {}), stop.signal)
  stop.abort()
  assert.is(await waiting, undefined)
  assert.is(await orAborted(Promise.reject(new Error('too late')), stop.signal), undefined)
})

test.run()
