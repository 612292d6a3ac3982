import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readCutString } from '../../../../src/server/trace/messages/beginnings.ts'

const test = suite('trace: how messages begin')

test('the text of a string is read up to where it was cut, wherever that is', () => {
  const text = 'a\0"\\\\n\\\ud800é漢🙂\n\u2028" end'
  const json = JSON.stringify(text).replace('é', '\\u00e9')
  for (let end = 1; end <= json.length; end++) {
    const read = readCutString(json.slice(0, end))
    assert.ok(text.startsWith(read), json.slice(0, end))
    assert.ok(read.length >= end / 6 - 2)
  }
  assert.is(readCutString(`${json},"more":1`), text)
})

test.run()
