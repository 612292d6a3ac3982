import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { memo } from '../../src/base/memo.ts'

const test = suite('base/memo')

test('the last texts are made once, and older ones again', () => {
  const made: string[] = []
  const upper = memo(2, (text) => {
    made.push(text)
    return text.toUpperCase()
  })
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) assert.is(upper(text), text.toUpperCase())
  assert.equal(made, ['a', 'b', 'c'])
  for (const text of ['d', 'e', 'f', 'a']) upper(text)
  assert.equal(made, ['a', 'b', 'c', 'd', 'e', 'f', 'a'])
})

test.run()
