import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { comparedLine, isWeakLine, splitLines } from '../../src/base/compared-lines.ts'
import { keyIdOf, newHashLine, toInt8 } from '../../src/base/line-hashes.ts'

const test = suite('compared lines')

const anyText = fc.string({ unit: 'binary', maxLength: 60 })
/** All that ECMAScript counts as white space. */
const space = fc.constantFrom(...'\t\v\f\r \u00a0\u1680\u2000\u2009\u2028\u2029\u202f\u205f\u3000\ufeff')
const line = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\n', ''))

test('lines are split at LF alone, and a last one begins no further line', () => {
  assert.equal(splitLines('a\r\nb\rc\u2028d\n\ne\n'), ['a\r', 'b\rc\u2028d', '', 'e'])
  assert.equal([splitLines(''), splitLines('\n'), splitLines('a')], [[], [''], ['a']])
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      assert.equal(splitLines(lines.map((one) => `${one}\n`).join('')), lines)
    }),
  )
})

test('white space anywhere does not matter, and nothing else is changed', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), fc.array(space), (words, spaces) => {
      const spaced = words.map((word, i) => word + (spaces[i] ?? '')).join('')
      assert.is(comparedLine(spaced), comparedLine(words.join('')))
    }),
  )
  fc.assert(
    fc.property(anyText, (text) => {
      const kept = [...text.toWellFormed()].filter((character) => !/\s/.test(character))
      assert.is(comparedLine(text), kept.join(''))
    }),
  )
  assert.is.not(comparedLine('e\u0301'), comparedLine('\u00e9'))
})

test('two lone surrogates with white space between them do not become a character', () => {
  assert.is(comparedLine('\ud83d \ude00'), '\ufffd\ufffd')
})

test('a line is weak that is short, very long, or without three letters or digits in a row', () => {
  for (const weak of ['', '}', 'returnx', '{{{{}}}},,,,', 'ab-cd-ef-gh', 'a'.repeat(4_097)]) assert.ok(isWeakLine(weak))
  for (const strong of [
    'returnxy',
    'a'.repeat(4_096),
    '//\u6771\u4eac\u90fd\u306b\u4f4f\u3080',
    '\u{20000}\u{20001}\u{20002}--',
  ])
    assert.not(isWeakLine(strong))
})

test('the hash is the beginning of the HMAC of the compared line; a weak line has none', () => {
  const secret = randomBytes(32)
  const hashLine = newHashLine(secret)
  const expected = createHmac('sha256', secret).update('constanswer=42').digest()
  assert.is(hashLine('  const answer = 42\r'), expected.toString('hex', 0, 8))
  assert.is(toInt8(hashLine('const answer = 42')!), expected.readBigInt64BE(0))
  assert.is(hashLine('  })'), undefined)
  fc.assert(
    fc.property(line, (text) => {
      const found = hashLine(text)
      assert.is(found === undefined, isWeakLine(comparedLine(text)))
      if (found !== undefined) assert.match(found, /^[0-9a-f]{16}$/)
      assert.is(hashLine(` \t${text}\r`), found)
    }),
  )
})

test('another key gives other hashes, and has another name', () => {
  const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  assert.is.not(newHashLine(one)('const answer = 42'), newHashLine(other)('const answer = 42'))
  assert.match(keyIdOf(one), /^[0-9a-f]{8}$/)
  assert.is.not(keyIdOf(one), keyIdOf(other))
})

test.run()
