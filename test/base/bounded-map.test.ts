import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BoundedMap } from '../../src/base/bounded-map.ts'

const test = suite('a bounded map')

test('drops the oldest entry for a new one, and calls onDrop afterwards', () => {
  const dropped: unknown[] = []
  const map = new BoundedMap<string, number>(2, (key, value) => dropped.push([key, value, map.has(key)]))
  map.set('a', 1).set('b', 2).set('c', 3)
  assert.equal([...map], [['b', 2], ['c', 3]]) // prettier-ignore
  assert.equal(dropped, [['a', 1, false]])
})

test('keeps the place of a key that is set again, and drops nothing for it', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  assert.equal([...map.keys()], ['b', 'c'])
  map.set('b', 5)
  assert.equal([...map.values()], [5, 4])
})

test('has room again after an entry was deleted', () => {
  const map = new BoundedMap<string, number>(1)
  map.set('a', 1).delete('a')
  map.set('b', 2)
  assert.equal([...map.keys()], ['b'])
})

test.run()
