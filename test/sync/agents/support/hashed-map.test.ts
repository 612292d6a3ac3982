import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newHashedMap } from '../../../../src/sync/agents/support/hashed-map.ts'

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

test('a map can be saved, restored and extended several times', () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => `text ${index}`)
  let map = newHashedMap()
  for (const [index, text] of texts.entries()) {
    assert.ok(map.add(text, index))
    if (index % 100 === 7) map = newHashedMap(map.save())
  }
  map.set('text 5', 70_000)
  map = newHashedMap(map.save())
  for (const [index, text] of texts.entries()) {
    assert.is(map.get(text), index === 5 ? 70_000 : index)
    assert.not(map.add(text))
  }
  assert.is(map.get('text 1000'), undefined)
  assert.is(Buffer.from(map.save().hashes, 'base64').length, 8_000)
})

test('a map restored from its saved keys has each of them with the number 0', () => {
  const map = newHashedMap()
  map.add('a', 3)
  const later = newHashedMap(map.saveKeys())
  assert.equal([later.get('a'), later.add('a', 1), later.get('b')], [0, false, undefined])
})

test.run()
