import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { atOnce } from '../../../src/base/json/steps.ts'
import { folded } from '../../../src/base/folded.ts'
import { findIn } from '../../../src/server/search/found.ts'
import { readQuery } from '../../../src/server/search/query.ts'
import { snippetOf } from '../../../src/server/search/snippet.ts'
import type { SearchedText } from '../../../src/server/trace/tokens/searched-text.ts'
import { clock } from './support/clock.ts'

const test = suite('what is shown of a text around a hit')

const snippet = (place: SearchedText['place'], query: string, text: string) => {
  const [{ marks } = { marks: [] }] = atOnce(findIn([{ place, text }], readQuery(query, clock))) ?? []
  return snippetOf({ place, text }, marks)
}
/** A snippet as text, with its marks in brackets. */
const shown = (place: SearchedText['place'], query: string, text: string): string => {
  const { text: said, marks } = snippet(place, query, text)
  return marks.reduceRight((all, [from, to]) => `${all.slice(0, from)}[${all.slice(from, to)}]${all.slice(to)}`, said)
}

test('marks of Markdown are not shown, and a paragraph is one line', () => {
  for (const [text, expected] of [
    ['# The *fig*\n\nis **ripe**, ~~sour~~ `sweet`', 'The [fig] is ripe, sour sweet'],
    ['> - [x] a fig\n> - ***b***', 'a [fig] b'],
    ['| a | fig |\n|---|:-:|\n| c | d |', 'a [fig] c d'],
    ['see [the fig](http://a.b/c_(d) "e") and ![it](f.png)', 'see the [fig] and it'],
    ['a fig\n=====\n\n---\n\nb', 'a [fig] b'],
    ['fig <https://a.b> <b>c</b> \\*d\\*', '[fig] https://a.b <b>c</b> *d*'],
    ['fig snake_case 2 * 3 *a, **b ``c`d`` `e', '[fig] snake_case 2 * 3 *a, **b c`d `e'],
    ['1. one fig\n2. two', '1. one [fig] 2. two'],
  ] as const)
    assert.is(shown('answer', 'fig', text), expected)
})

test('what was found is shown as it is, with all that it touches', () => {
  assert.is(shown('answer', 'fig', '*see* [it](http://a.b/fig) **now**'), 'see [it](http://a.b/[fig]) now')
  assert.is(shown('answer', '"a **fig"', '*see* a **fig** **now**'), 'see [a **fig]** now')
})

test('a prompt is shown as it was typed', () => {
  assert.is(shown('prompt', 'fig', '# no *heading*\n__init__.py   fig'), '# no *heading* __init__.py [fig]')
  assert.is(shown('prompt', 'fig', '\u001b[31mred\u001b[0m fig'), 'red [fig]')
})

test('of code three lines are shown at most, without their common indentation', () => {
  const output = 'one\n\n    two\n      fig\n    three\n    four'
  assert.is(shown('output', 'fig', output), 'two\n  [fig]\nthree')
  assert.is(shown('output', 'one', output), '[one]\n\n    two')
  assert.is(shown('call', 'fig', 'Bash\nls fig\nList it'), 'Bash\nls [fig]\nList it')
  assert.is(shown('output', 'fig', `${'x'.repeat(150)}\nfig\nend`), '[fig]\nend')
  assert.is(shown('output', 'fig', '\u001b[31mred\u001b[0m\n\u001b[1m a fig\u001b[0m\r\nend'), 'red\n a [fig]\r\nend')
  assert.is(shown('output', '"red fig"', '\u001b[31mred \u001b[1mfig\u001b[0m'), '[red fig]')
  assert.is(
    shown('output', 'fig', `${'word '.repeat(40)}fig ${'more '.repeat(60)}`),
    `…${'word '.repeat(12)}[fig] ${'more '.repeat(34).trimEnd()}…`,
  )
})

test('prose and fenced code are shown by themselves', () => {
  const text = 'A **date** here:\n\n```ts\nconst fig = 1\n  * 2\n```\n\nThe *plum*.'
  assert.is(shown('answer', 'date', text), 'A [date] here:…')
  assert.is(shown('prompt', 'fig', text), 'const [fig] = 1\n  * 2')
  assert.is(shown('answer', 'plum', text), '…The [plum].')
  assert.is(shown('answer', 'date', 'A date.\n\n```\n1\n```'), 'A [date]. …')
  assert.is(shown('answer', 'ts', text), '[ts]\nconst fig = 1\n  * 2')
})

test('a snippet is not cut inside the first letter of a text either', () => {
  const text = `a${'\u0301'.repeat(40)}${'x'.repeat(25)} fig`
  assert.is(shown('prompt', 'fig', text), `${text.slice(0, -3)}[fig]`)
})

test('a text without words to mark is shown from its beginning', () => {
  assert.is(shown('answer', 'in:answer', `**A** ${'word '.repeat(60)}`), `A ${'word '.repeat(47).trimEnd()}…`)
  assert.is(shown('trace', 'in:prompt', ''), '')
})

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom('get', 'User', 'src/http/app.ts', 'e\u0301te\u0301', '👩‍👩‍👧‍👦', '🇩🇪🇫🇷', '각각', 'กำลัง', 'नमस्ते', 'שלום'),
    fc.constantFrom(
      '漢字仮名交じり文',
      '修复登录错误',
      'x'.repeat(90),
      `a${'\u0301'.repeat(20)}`,
      '\u{20000}',
      '\ud800',
      ',',
    ),
  ),
  { maxLength: 60 },
)
const sentence = fc.tuple(pieces, fc.constantFrom(' ', '', '/')).map(([all, joiner]) => all.join(joiner))

const graphemes = new Intl.Segmenter('und')
const words = new Intl.Segmenter('und', { granularity: 'word' })
/** The length of the grapheme or word that a cut at an index divides; 0 if it divides none. */
const divided = (by: Intl.Segmenter, text: string, at: number): number => {
  const found = by.segment(text).containing(at)
  return found === undefined || found.index === at ? 0 : found.segment.length
}

test('a snippet has at most 240 characters, and is cut between words, in no grapheme and no mark', () => {
  const places = fc.constantFrom('prompt', 'output', 'trace')
  const property = fc.property(places, sentence, sentence, (place, before, after) => {
    const text = [before, 'Needle_x', after, 'needle_x'].filter((one) => one !== '').join(' ')
    const { text: said, marks } = snippet(place as SearchedText['place'], 'needle_x', text)
    assert.ok(said.length <= 240 && marks.length > 0)
    let last = 0
    for (const [start, end] of marks) {
      assert.ok(start >= last && end > start)
      assert.is(folded(said.slice(start, end)), 'needle_x')
      last = end
    }
    const core = said.slice(said.startsWith('…') ? 1 : 0, said.endsWith('…') ? -1 : undefined)
    const at = text.indexOf(core)
    assert.ok(at >= 0, `${core} in ${text}`)
    assert.equal([said.startsWith('…'), said.endsWith('…')], [at > 0, at + core.length < text.length])
    for (const end of [at, at + core.length]) {
      assert.is(divided(graphemes, text, end), 0, `${core} in ${text}`)
      const word = divided(words, text, end)
      assert.ok(word === 0 || word > 30, `${core} in ${text}`)
    }
  })
  fc.assert(property, { numRuns: 1_000 })
})

test.run()
