import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { restMs } from '../../../src/eventstore/engine/keep-read-models.ts'

const test = suite('engine/keep-read-models')

test('lazy groups rest a little between small batches', () => {
  for (const [group, events, expected] of [
    [{}, 1, 0],
    [{ isLazy: true }, 1, 50],
    [{ isLazy: true }, 0, 0],
    [{ isLazy: true }, 500, 0],
  ] as const)
    assert.is(restMs(group, events, 30, 1), expected)
})

test('deferred groups take a tenth of the time of a busy event loop, and all that they need of another one', () => {
  const group = { isLazy: true, isDeferred: true } as const
  assert.is(restMs(group, 1_000, 30, 0.9), 270)
  assert.is(restMs(group, 1_000, 5_000, 0.9), 1_000)
  assert.is(restMs(group, 1_000, 30, 0.5), 0)
  assert.is(restMs(group, 1, 30, 0.5), 50)
})

test.run()
