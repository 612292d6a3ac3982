import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { memo } from '../../src/base/memo.ts'

const test = suite('base/memo')

test('the last texts that came twice are made no more, and older ones again', () => {
  const made: string[] = []
  const upper = memo(2, (text) => {
    made.push(text)
    return text.toUpperCase()
  })
  const ask = (texts: string) => {
    for (const text of texts) assert.is(upper(text), text.toUpperCase())
    return made.splice(0).join('')
  }
  assert.is(ask('abcabc'), 'abcabc')
  assert.is(ask('abcabc'), '')
  assert.is(ask('xy'), 'xy')
  assert.is(ask('abc'), '')
  assert.is(ask('ddeeffgga'), 'ddeeffgga')
})

test.run()
