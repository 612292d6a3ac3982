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
]

test('texts of the same characters are comparable, however these are written', () => {
  for (const [one, other] of same) assert.is(comparable(one), comparable(other), one)
})

const odd = fc.constantFrom(
  ...['a', 'Z', ' ', 'é', 'e\u0301', '\u0323', 'ﬁ', '½', '…', 'ﾊ', 'ﾟ', 'ﾞ', 'か', '\u3099'],
  ...['\u1100', '\u1161', '\u11a8', '각', '①', '’', '\ud83d\ude00', '\ud800', 'ǅ', '\u0344'],
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
        assert.ok(from < to && to <= text.length && from <= end, `${at} of ${JSON.stringify(text)}`)
        assert.ok(normalForm(text.slice(from, to)).includes(normal[at]!))
        end = to
      }
    }),
  )
})

test.run()
