import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Unavailable } from '../../src/engine/rejected.ts'
import { newSemaphore } from '../../src/http/semaphore.ts'

const test = suite('a semaphore')

test('calls are served in order, the next one when a permit is released', async () => {
  const semaphore = newSemaphore({ capacity: 10, onShortage: () => {}, message: 'full' })
  const first = await semaphore.acquire(6)
  const order: string[] = []
  const large = semaphore.acquire(5).then((permit) => (order.push('large'), permit))
  const small = semaphore.acquire(1).then((permit) => (order.push('small'), permit))
  first.resize(9)
  first.release()
  const permits = await Promise.all([large, small])
  assert.equal(order, ['large', 'small'])
  assert.is(permits[0].size(), 5)
  for (const permit of permits) permit.release()
  assert.is((await semaphore.acquire(10)).size(), 10)
})

test('a permit is for the whole capacity at most, and can be resized to more', async () => {
  const semaphore = newSemaphore({ capacity: 10, onShortage: () => {}, message: 'full' })
  const permit = await semaphore.acquire(50)
  assert.is(permit.size(), 10)
  permit.resize(30)
  const next = semaphore.acquire(1)
  permit.release()
  permit.resize(30)
  assert.is((await next).size(), 1)
})

test('a shortage is reported while a call waits, and the call is refused after the timeout', async () => {
  const missing: number[] = []
  const semaphore = newSemaphore({
    capacity: 10,
    onShortage: (size) => void missing.push(size),
    timeoutMs: 50,
    message: 'full',
  })
  const permit = await semaphore.acquire(8)
  const error = await semaphore.acquire(5).catch((thrown: unknown) => thrown)
  assert.instance(error, Unavailable)
  assert.is(missing[0], 3)
  permit.release()
  assert.is((await semaphore.acquire(10)).size(), 10)
})

test.run()
