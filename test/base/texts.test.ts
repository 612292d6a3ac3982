import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { graphemeBefore, truncateLine, truncateText } from '../../src/base/texts.ts'
import { previewText } from '../../src/transcript/preview.ts'

const test = suite('texts')

const graphemesOf = (text: string) => [...new Intl.Segmenter('und').segment(text)].map(({ segment }) => segment)

const grapheme = fc.constantFrom(
  'a',
  ' ',
  'é',
  'e\u0301',
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  '👍🏽',
  '한',
  '\u1112\u1161\u11ab',
  '漢',
  '\r\n',
  'नि',
  '1️⃣',
)
const text = fc.array(grapheme, { maxLength: 60 }).map((all) => all.join(''))

test('a text is truncated between graphemes, to no more characters than it may have', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 12, max: 40 }), (text, most) => {
      const cut = truncateText(text, most)
      assert.ok([...cut].length <= most)
      if (cut === text) return
      assert.ok(cut.endsWith('…'))
      const kept = graphemesOf(cut.slice(0, -1))
      assert.equal(kept, graphemesOf(text).slice(0, kept.length))
    }),
    { numRuns: 300 },
  )
})

test('a line is cut between words, else between graphemes, and never inside a character', () => {
  const words = fc.array(fc.oneof(grapheme, fc.constantFrom('\n', '\0', 'שלום', '\ud83d')), { maxLength: 60 })
  fc.assert(
    fc.property(words, fc.integer({ min: 12, max: 40 }), (all, most) => {
      const line = all.join('').replace(/\s+/g, ' ').trim()
      const cut = truncateLine(all.join(''), most)
      assert.ok(cut.length <= most)
      if (line.length <= most) return assert.is(cut, line)
      assert.ok(cut.endsWith('…'))
      const kept = graphemesOf(cut.slice(0, -1))
      assert.equal(kept, graphemesOf(line).slice(0, kept.length))
    }),
    { numRuns: 300 },
  )
  assert.is(truncateLine(`${'word '.repeat(15)}${'x'.repeat(20)}`, 80), `${'word '.repeat(15).trim()}…`)
  assert.is(truncateLine('x'.repeat(80), 80), 'x'.repeat(80))
})

test('the place before a grapheme is its beginning, and a grapheme that is far too long is cut', () => {
  assert.equal(
    [0, 1, 2, 3, 11, 12, 13].map((at) => graphemeBefore('a👩‍👩‍👧‍👦b', at)),
    [0, 1, 1, 1, 1, 12, 13],
  )
  const endless = `a${'\u0301'.repeat(1_000)}`
  assert.is([...truncateText(endless, 500)].length, 500)
  assert.is(graphemeBefore(`a${'\u{e0061}'.repeat(200)}`, 200), 199, 'but not between the halves of a character')
})

test('a preview is cut between graphemes', () => {
  const message = JSON.stringify({ role: 'user', parts: [{ type: 'text', content: { text: '👩‍👩‍👧‍👦'.repeat(40) } }] })
  assert.is(previewText(message), `${'👩‍👩‍👧‍👦'.repeat(18)}…`)
})

test.run()
