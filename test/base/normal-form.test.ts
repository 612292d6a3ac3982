import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { comparable } from '../../src/base/folded.ts'
import { newNormalText, normalForm } from '../../src/base/normal-form.ts'

const test = suite('base: the normal form of texts')

const same: readonly (readonly [one: string, other: string])[] = [
  ['Café', 'Cafe\u0301'],
  ['학점인정', '학점인정'.normalize('NFD')],
  ['パピプ', 'ハ\u309aヒ\u309aフ\u309a'],
  ['テスト', 'ﾃｽﾄ'],
  ['パン', 'ﾊﾟﾝ'],
  ['error', 'ｅｒｒｏｒ'],
  ['file', 'ﬁle'],
  ["don't", 'don’t'],
  ['GRÖSSEN', 'gro\u0308ssen'],
  ['2 errors', '2 \u001b[1;31merrors\u001b[0m'],
  ['myFunction', 'my\u001b[01;31m\u001b[KFunc\u001b[m\u001b[Ktion'],
  ['see the log', 'see \u001b]8;;https://example.org\u0007the log\u001b]8;;\u001b\\'],
]

test('texts of the same characters are comparable, however these are written', () => {
  for (const [one, other] of same) assert.is(comparable(one), comparable(other), one)
})

test('what moves the cursor of a terminal ends a word', () => {
  for (const moves of ['\u001b[1G', '\u001b[10C', '\u001b[H', '\u001bE'])
    assert.is(normalForm(`done${moves}loading`), 'done\nloading', JSON.stringify(moves))
})

const odd = fc.constantFrom(
  ...['a', 'Z', ' ', 'é', 'e\u0301', '\u0323', 'ﬁ', '½', '…', 'ﾊ', 'ﾟ', 'ﾞ', 'か', '\u3099'],
  ...['\u1100', '\u1161', '\u11a8', '각', '①', '’', '\ud83d\ude00', '\ud800', 'ǅ', '\u0344'],
  ...['\u001b[31m', '\u001b[2J', '\u001b', '[', 'm', '\u001b]0;', '\u0007', '\u001b(B'],
)
const anyText = fc.oneof(
  fc.array(odd, { maxLength: 12 }).map((all) => all.join('')),
  fc.string({ unit: 'binary' }),
)

test('the normal form with places is the normal form, and each place is of the characters that it was made of', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { normal, placeOf } = newNormalText(text)
      assert.is(normal, normalForm(text))
      let end = 0
      for (let at = 0; at < normal.length; at += 1) {
        const [from, to] = placeOf([at, at + 1])
        assert.ok(
          from < to && to <= text.length && normalForm(text.slice(end, from)) === '',
          `${at} of ${JSON.stringify(text)}`,
        )
        assert.ok(normalForm(text.slice(from, to)).includes(normal[at]!))
        end = to
      }
    }),
  )
})

test.run()
