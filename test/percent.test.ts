import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { percentDone } from '../src/percent.ts'

const test = suite('percent')

test('is that of the way from the beginning to the end', () => {
  assert.is(percentDone(0n, 45_988_351n, 270_508_394n), 17)
  assert.is(percentDone(200n, 250n, 300n), 50)
  assert.is(percentDone(0n, 999n, 1_000n), 99)
})

test('is 0 at the beginning and 100 at the end, also when there is no way or the end has been passed', () => {
  assert.equal(
    [percentDone(7n, 7n, 9n), percentDone(0n, 9n, 9n), percentDone(9n, 9n, 9n), percentDone(0n, 9n, 7n)],
    [0, 100, 100, 100],
  )
  assert.is(percentDone(7n, 3n, 9n), 0)
})

test.run()
