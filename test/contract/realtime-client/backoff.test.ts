import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newBackoff } from '../../../src/contract/realtime-client/backoff.ts'

const test = suite('contract/realtime-client: backoff')

const waits = (random: () => number, count: number) => {
  const backoff = newBackoff(random)
  return Array.from({ length: count }, () => backoff.next())
}

test('each wait is twice as long as the one before, half of it by chance, up to half a minute', () => {
  assert.equal(
    waits(() => 1, 9),
    [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
  )
  assert.equal(
    waits(() => 0, 3),
    [125, 250, 500],
  )
})

test('after a success the waits start again', () => {
  const backoff = newBackoff(() => 1)
  for (let i = 0; i < 5; i++) backoff.next()
  backoff.reset()
  assert.is(backoff.next(), 250)
})

test.run()
