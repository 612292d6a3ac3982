import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newBoundedCache } from '../../src/engine/bounded-cache.ts'

const held = (memory: { get(key: string): number | undefined }) =>
  ['a', 'b', 'c'].filter((key) => memory.get(key) !== undefined)

test('what was set longest ago goes when it grows too heavy', () => {
  const memory = newBoundedCache<number>(10, (weight) => weight)
  memory.set('a', 4)
  memory.set('b', 4)
  memory.set('a', 5)
  assert.equal(held(memory), ['a', 'b'])
  memory.set('c', 5)
  assert.equal(held(memory), ['a', 'c'], 'a was set again after b')
})

test('what is too heavy by itself is not held, and takes nothing else with it', () => {
  const memory = newBoundedCache<number>(10, (weight) => weight)
  memory.set('a', 4)
  memory.set('b', 5)
  memory.set('b', 11)
  assert.equal(held(memory), ['a'])
  memory.set('c', 6)
  assert.equal(held(memory), ['a', 'c'])
})

test('what has been deleted weighs nothing any more', () => {
  const memory = newBoundedCache<number>(10, (weight) => weight)
  memory.set('a', 8)
  memory.delete('a')
  memory.delete('a')
  memory.set('b', 5)
  memory.set('c', 5)
  assert.equal(held(memory), ['b', 'c'])
  memory.clear()
  memory.set('a', 10)
  assert.equal(held(memory), ['a'])
})

test.run()
