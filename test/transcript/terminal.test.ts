import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readTerminal } from '../../src/transcript/terminal.ts'

const test = suite('transcript: what a program wrote to a terminal')

const ESCAPE = '\u001b'
/** How many characters are read at a time. */
const SLICE = 8 * 1024

const shown = (text: string) => [...readTerminal(text)].map((span) => span.text).join('')

const sequences = {
  'a colour': `${ESCAPE}[38;2;1;2;250m`,
  'a set of characters': `${ESCAPE}(B`,
  'a title that ends with a bell': `${ESCAPE}]0;${'title '.repeat(300)}\u0007`,
  'a link that ends with a string terminator': `${ESCAPE}]8;;https://example.org/${'path/'.repeat(300)}${ESCAPE}\\`,
  'the longest title': `${ESCAPE}]${'t'.repeat(2_048)}${ESCAPE}\\`,
}

for (const [name, sequence] of Object.entries(sequences))
  test(`${name} is left out, even if the text is cut inside it`, () => {
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

/** Each character with the style that it has: equal for outputs that look the same. */
const styled = (text: string) =>
  [...readTerminal(text)].flatMap(({ text, ...style }) => [...text].map((one) => JSON.stringify([one, style])))

test('sequences that are repeated without text between them count once', () => {
  const sequence = fc.constantFrom(...['1', '0', '31', '38;5;200', '48;2;1;2;3', '7', '4', '2;3', '39', '24'])
  const runs = fc.array(fc.tuple(fc.array(sequence, { maxLength: 6 }), fc.constantFrom('a', 'bc', '')), {
    maxLength: 6,
  })
  fc.assert(
    fc.property(runs, (runs) => {
      const of = (repeated: number) =>
        runs
          .map(([codes, text]) => `${codes.map((code) => `${ESCAPE}[${code}m`.repeat(repeated)).join('')}${text}`)
          .join('')
      assert.equal(styled(of(1)), styled(of(50)))
    }),
  )
})

test('each step reads a piece of bounded length, whatever the output', () => {
  const units = ['[1m', '[A', '[1;31m', ']0;title\u0007', '[38;2;1;2;3m', '', '[', ']', '(B', 'c'].map(
    (rest) => `${ESCAPE}${rest}`,
  )
  const unit = fc.array(fc.oneof(fc.constantFrom(...units), fc.constantFrom('x', '\n', '🙂', '\0')), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(unit, fc.integer({ min: 1, max: 300_000 }), (parts, length) => {
      const one = parts.join('')
      const text = one.repeat(Math.ceil(length / one.length))
      let steps = 0
      for (const span of readTerminal(text)) {
        steps += 1
        assert.ok(span.text.length <= 2 * SLICE + 1)
      }
      assert.ok(steps >= Math.floor(text.length / (2 * SLICE + 1)), `${steps} steps for ${text.length} characters`)
    }),
    { numRuns: 50 },
  )
})

test.run()
