import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newWatermark } from '../../../src/eventstore/engine/watermark.ts'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { errorOf } from '../log/support/events.ts'

const test = suite('engine/watermark')

const LONG_MS = 60_000

test('a wait for a position ends when the watermark reaches it', async () => {
  const watermark = newWatermark()
  const waiting = [3n, 5n, 4n].map((position) => watermark.waitFor(position, LONG_MS))
  watermark.advance(4n)
  await Promise.all([waiting[0], waiting[2]])
  assert.ok(watermark.hasWaiters())
  watermark.advance(2n)
  assert.is(watermark.position(), 4n, 'it does not move backwards')
  watermark.advance(6n)
  await waiting[1]
  assert.not.ok(watermark.hasWaiters())
})

test('a reset ends the waits for positions up to it', async () => {
  const watermark = newWatermark()
  watermark.advance(8n)
  const waiting = [10n, 12n, 13n].map((position) => watermark.waitFor(position, LONG_MS))
  watermark.reset(12n)
  await Promise.all([waiting[0], waiting[1]])
  assert.ok(watermark.hasWaiters())
  watermark.advance(13n)
  await waiting[2]
})

test('a reset may go backwards', async () => {
  const watermark = newWatermark()
  watermark.advance(8n)
  watermark.reset(5n)
  assert.is(watermark.position(), 5n)
  const waiting = watermark.waitFor(7n, LONG_MS)
  watermark.advance(7n)
  await waiting
})

test('a wait ends with its timeout', async () => {
  const error = (await errorOf(newWatermark().waitFor(1n, 1))) as Unavailable
  assert.instance(error, Unavailable)
  assert.is(error.stored, true)
})

test.run()
