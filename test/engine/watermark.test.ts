import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newHorizon } from '../../src/engine/watermark.ts'
import { Unavailable } from '../../src/engine/rejected.ts'
import { errorOf } from '../log/support/events.ts'

const test = suite('engine/horizon')

const LONG_MS = 60_000

test('whoever waits for a position goes on when it has been passed', async () => {
  const horizon = newHorizon()
  const waiting = [3n, 5n, 4n].map((position) => horizon.passed(position, LONG_MS))
  horizon.advance(4n)
  await Promise.all([waiting[0], waiting[2]])
  assert.ok(horizon.waiting())
  horizon.advance(2n)
  assert.is(horizon.position(), 4n, 'it does not move backwards')
  horizon.advance(6n)
  await waiting[1]
  assert.not.ok(horizon.waiting())
})

test('a reset lets go who waits for no more than that', async () => {
  const horizon = newHorizon()
  horizon.advance(8n)
  const waiting = [10n, 12n, 13n].map((position) => horizon.passed(position, LONG_MS))
  horizon.reset(12n)
  await Promise.all([waiting[0], waiting[1]])
  assert.ok(horizon.waiting())
  horizon.advance(13n)
  await waiting[2]
})

test('a reset may go back', async () => {
  const horizon = newHorizon()
  horizon.advance(8n)
  horizon.reset(5n)
  assert.is(horizon.position(), 5n)
  const waiting = horizon.passed(7n, LONG_MS)
  horizon.advance(7n)
  await waiting
})

test('nobody waits for ever', async () => {
  const error = (await errorOf(newHorizon().passed(1n, 1))) as Unavailable
  assert.instance(error, Unavailable)
  assert.is(error.stored, true)
})

test.run()
