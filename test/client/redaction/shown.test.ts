import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newFindSecrets } from '../../../src/client/redaction/find.ts'
import { showText, textShown } from '../../../src/client/redaction/shown.ts'
import { disguises } from './corpus.ts'

const test = suite('texts as they are shown')
const find = newFindSecrets()

for (const [what, text, shown] of [
  ['colours', '\u001b[1mDB\u001b[0m=\u009b31mx', 'DB=x'],
  ['an address of a link', '\u001b]8;;https://acme.io\u001b\\here\u001b]8;;\u0007', 'here'],
  ['colours in JSON', String.raw`\u001b[1mDB\u001b[0m`, 'DB'],
  ['a link in JSON', String.raw`\u001b]8;;https://acme.io\u001b\\DB\u001b]8;;\u0007`, 'DB'],
  ['a title without an end, before another sequence', '\u001b]0;title\u001b[1mDB', 'DB'],
  ['what is written over a line', 'hidden Wq8z\rtoken=', 'token= Wq8z\nhidden Wq8z\ntoken='],
  ['what is erased', 'Loading all of it\r\u001b[KDB=x', 'DB=x\nLoading all of it'],
  ['a line of Windows', 'DB=x\r\ny\r\n', 'DB=x\r\ny\r\n'],
  ['what is erased by backspaces', 'DA\b \bB=x', 'DB=x'],
  ['bold and underlined text of a manual', 'D\bDB\bB _\bA', 'DB A'],
  ['UTF-16', 'D\0B\0=\0x\0', 'DB=x'],
  ['zeros between variables', 'A=b\0C=d\0', 'A=b\nC=d\n'],
  ['characters without a width', 'D\u200bB\u00ad\ufe0f\u{e0041}=\ufeffx', 'DB=x'],
  ['other spaces', 'DB\u00a0=\u3000x', 'DB = x'],
  ['wide, mathematical and circled letters', 'ＤＢ＝𝐱ⓨ', 'DB=xy'],
  ['characters of HTML', 'DB&#61;&quot;x&quot;&nbsp;&amp;quot;', 'DB="x" "'],
  ['elements and comments of HTML', '<span class="k">DB</span>=<!-- x --><b>x</b>', 'DB=x'],
  ['percent-encoding', '%44B%3D%E2%80%8Bx%253D', 'DB=x='],
  ['escapes of code', String.raw`\x44\u{42}\u003d\xe2\x80\x8bx`, 'DB=x'],
  ['Markdown', String.raw`DB\_X**Y**Z`, 'DB_XYZ'],
] as const)
  test(`of ${what} only what is seen is searched`, () => assert.is(textShown(text), shown))

for (const text of [
  'DB=x',
  'a <b && c > 100 %',
  'C:\\dir\\new',
  '**bold** x ** 2',
  'Grüße, 你好 🎉',
  '<div>',
  'a\r\nb',
  'AT&T &c;',
])
  test(`is shown as it is written: ${JSON.stringify(text)}`, () => assert.is(showText(text), undefined))

test('a secret is replaced with all that is hidden within it, and nothing beside it changes', () => {
  const before = 'a \u001b[32mDB_\u001b[1mPASSWORD\u001b[0m=\u001b[33m'
  const after = '\u001b[0m \u200bb'
  for (const secret of [
    'Wq8z\u001b[1mLp30\u001b[0mXv5Nt',
    'Wq8z\u200bLp30\u00adXv5Nt',
    'WW\bW'.slice(1) + 'q8zLp30Xv5Nt',
  ]) {
    const text = before + secret + after
    const [{ start, end, value }] = find(text) as [ReturnType<typeof find>[number]]
    assert.equal([text.slice(0, start), text.slice(end), value], [before, after, 'Wq8zLp30Xv5Nt'])
  }
})

test('each range of what is shown comes from a range of the text that shows it', () => {
  const words = fc.array(fc.constantFrom('DB', 'key', '=', ' ', 'Wq8zLp30', '\n', '"', 'x'), { maxLength: 12 })
  // What a zero means depends on its neighbours, and what was overwritten stands elsewhere.
  const { 'UTF-16': _, 'written over a line': _over, 'erased and written': _erased, ...others } = disguises
  const ways = fc.constantFrom(...Object.values(others))
  fc.assert(
    fc.property(words, ways, fc.nat(), fc.nat(), (parts, disguise, one, other) => {
      const text = disguise(parts.join(''))
      const shown = showText(text)
      if (!shown || shown.text === '') return
      const [start, last] = [one % shown.text.length, other % shown.text.length].sort((a, b) => a - b) as [
        number,
        number,
      ]
      const origin = shown.originOf({ start, end: last + 1 })
      assert.is(textShown(text.slice(origin.start, origin.end)), shown.text.slice(start, last + 1))
    }),
  )
})

test('a text that consists of what is hidden is searched in time proportional to its length', () => {
  // What looked on to the end from each of them would take many minutes.
  const units = [
    '\u001b',
    '\u001b[',
    '\u001b]',
    '\u009d',
    '\r',
    'a\r',
    '\b',
    'a\b',
    '\0',
    '&amp;',
    '%25',
    '\\',
    '<!--',
    '<b ',
    '\u001b[15D',
  ]
  for (const unit of [
    ...units,
    '\u001b[2K',
    '\u200b',
    '**a',
    '^[',
    'k\bke\bey\by=Wq8z\r',
    '\u001b[1mPASSWORD\u001b[m="',
  ])
    assert.ok(find(unit.repeat(300_000 / unit.length)).length < 30_000)
})

test.run()
