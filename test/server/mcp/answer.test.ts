import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { textOf } from '../../../src/server/mcp/answer.ts'
import { cutText } from '../../../src/server/mcp/quoted.ts'
import { visible } from '../../../src/transcript/visible.ts'

const test = suite('answers of tools')

const hostile = fc.string({
  unit: fc.constantFrom('a', 'ä', '😀', '登', '"', '\\', '\n', '\r', '\u001b', '\u202e', '\u0000', '\ud800', ' '),
  maxLength: 6_000,
})

test('a text is cut into pieces of limited size that together are the whole text', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 32, max: 4_096 }), (text, most) => {
      let [all, from] = ['', 0]
      while (from < text.length) {
        const { text: shown, end } = cutText(text, from, most)
        assert.ok(Buffer.byteLength(shown) <= most && end > from)
        all += shown
        from = end
      }
      assert.is(all, visible(text))
    }),
    { numRuns: 100 },
  )
})

test('the text of an answer has at most 8 kB: the introduction, what was left out, and the quotations', () => {
  const quotes = fc.array(
    hostile.map((text) => ({ quoted: true, session: 's'.repeat(300), message: 'm', text: visible(text) })),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(quotes, (quotes) => {
      const text = textOf({ intro: 'Some messages.', leftOut: ['others.'], quotes })
      assert.ok(Buffer.byteLength(text) <= 8_192, String(Buffer.byteLength(text)))
      const [intro, left, ...rest] = text.split('\n')
      assert.equal([intro, left], ['Some messages.', 'Left out: others.'])
      const lines = rest
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as (typeof quotes)[number])
      const note = rest.filter((line) => !line.startsWith('{'))
      if (note.length === 0) assert.equal(lines, quotes)
      else assert.match(note[0]!, `This text has ${lines.length} of ${quotes.length} quotations, shortened.`)
      assert.ok(note.length <= 1 && (lines.length > 0 || quotes.length === 0))
      for (const [i, { session, message, text: shown }] of lines.entries()) {
        assert.equal([session, message], [quotes[i]!.session, 'm'])
        assert.ok(quotes[i]!.text.startsWith(shown.replace(/…$/, '')))
      }
    }),
    { numRuns: 50 },
  )
})

test.run()
