import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { cutAt } from '../../src/transcript/slices.ts'

test('a text is cut neither inside a character nor inside a line break, but beside both', () => {
  const cuts = (text: string) => Array.from({ length: text.length + 1 }, (_, at) => cutAt(text, at))
  assert.equal(cuts('a😀b'), [0, 1, 3, 3, 4])
  assert.equal(cuts('a\r\nb'), [0, 1, 3, 3, 4])
  assert.equal(cuts('a\rb\r'), [0, 1, 2, 3, 4])
  assert.equal(cuts('\ud800😀'), [0, 1, 3, 3], 'a half of a character before a whole one')
})

test.run()
