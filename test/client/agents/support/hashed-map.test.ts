import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newHashedMap } from '../../../../src/client/agents/support/hashed-map.ts'

const test = suite('a map from texts to numbers')

test('a text keeps its first number', () => {
  const map = newHashedMap()
  assert.equal([map.get('a'), map.add('a', 7), map.add('a', 8), map.get('a')], [undefined, true, false, 7])
  assert.equal([map.add('b'), map.get('b'), map.get('c')], [true, 0, undefined])
})

test('many similar texts are all distinct keys', () => {
  const map = newHashedMap()
  const texts = ['', '0000-1111-2222-', 'ä🙂'].flatMap((prefix) =>
    Array.from({ length: 100_000 }, (_, index) => `${prefix}${index}`),
  )
  assert.ok(texts.every((text, index) => map.add(text, index)))
  assert.ok(texts.every((text, index) => map.get(text) === index && !map.add(text)))
  assert.is(map.get('0000-1111-2222-'), undefined)
})

test('the empty text is a valid key', () => {
  const map = newHashedMap()
  assert.equal([map.get(''), map.add('', 2 ** 32 - 1), map.get('')], [undefined, true, 2 ** 32 - 1])
})

test('a number can be changed', () => {
  const map = newHashedMap()
  map.add('a', 1)
  map.set('a', 70_000)
  map.set('b', 2)
  assert.equal([map.get('a'), map.get('b')], [70_000, 2])
})

test.run()
