import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newSizedCache } from '../../../src/eventstore/engine/sized-cache.ts'

const held = (memory: { get(key: string): number | undefined }) =>
  ['a', 'b', 'c'].filter((key) => memory.get(key) !== undefined)

test('when the total size is exceeded, the values set longest ago are evicted', () => {
  const memory = newSizedCache<number>(10, (size) => size)
  memory.set('a', 4)
  memory.set('b', 4)
  memory.set('a', 5)
  assert.equal(held(memory), ['a', 'b'])
  memory.set('c', 5)
  assert.equal(held(memory), ['a', 'c'], 'a was set again after b')
})

test('a value larger than the maximum is not cached, and evicts no other', () => {
  const memory = newSizedCache<number>(10, (size) => size)
  memory.set('a', 4)
  memory.set('b', 5)
  memory.set('b', 11)
  assert.equal(held(memory), ['a'])
  memory.set('c', 6)
  assert.equal(held(memory), ['a', 'c'])
})

test('deleted values no longer count', () => {
  const memory = newSizedCache<number>(10, (size) => size)
  memory.set('a', 8)
  memory.delete('a')
  memory.delete('a')
  memory.set('b', 5)
  memory.set('c', 5)
  assert.equal(held(memory), ['b', 'c'])
  memory.deleteAll((key) => key !== 'c')
  memory.set('a', 5)
  assert.equal(held(memory), ['a', 'c'])
  memory.clear()
  memory.set('a', 10)
  assert.equal(held(memory), ['a'])
})

test.run()
