import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readTerminal } from '../../../src/export/transcript/terminal.ts'

const test = suite('export: what a program wrote to a terminal')

const ESCAPE = '\u001b'
/** How many characters are read at a time. */
const SLICE = 16 * 1024

const shown = (text: string) => [...readTerminal(text)].map((span) => span.text).join('')

const sequences = {
  'a colour': `${ESCAPE}[38;2;1;2;250m`,
  'a set of characters': `${ESCAPE}(B`,
  'a title that ends with a bell': `${ESCAPE}]0;${'title '.repeat(300)}\u0007`,
  'a link that ends with a string terminator': `${ESCAPE}]8;;https://example.org/${'path/'.repeat(300)}${ESCAPE}\\`,
  'the longest title': `${ESCAPE}]${'t'.repeat(2_048)}${ESCAPE}\\`,
}

for (const [name, sequence] of Object.entries(sequences))
  test(`${name} is left out, wherever the text is cut`, () => {
    const places = new Set([0, 1, 2, 3, 63, 64, 65, 1_000, sequence.length - 2, sequence.length - 1, sequence.length])
    for (const before of [...places].filter((place) => place <= sequence.length)) {
      const start = 'x'.repeat(SLICE - before)
      assert.ok(shown(`${start}${sequence}end`) === `${start}end`, `cut after ${before} characters`)
    }
  })

test('a sequence that never ends is shown', () => {
  for (const text of [`${ESCAPE}]0;title`, `${'x'.repeat(SLICE - 10)}${ESCAPE}]${'t'.repeat(5_000)}`, `x${ESCAPE}`])
    assert.ok(shown(text) === text)
})

test.run()
