import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NumberOutOfRange, isDeeperThan, isUnstorable, parseExact, textOf } from '../../src/json/exact.ts'

const test = suite('json/exact')
const again = (text: string) => JSON.stringify(parseExact(text))

for (const text of [
  '9007199254740993',
  '-9007199254740993',
  '[18446744073709551615,123456789012345678901234567890]',
  '-0',
  '{"a":-0,"b":[-0]}',
  '{"__proto__":{"x":12345678901234567890},"b":1}',
  '{"constructor":{"prototype":1},"toJSON":"j"}',
  '{"z":1,"a":2,"":3}',
  '"a\\u0000b\\ud800"',
]) {
  test(`${text} comes back as it came`, () => assert.is(again(text), text))
}

test('a zero with a fraction or an exponent keeps its sign', () => {
  for (const text of ['-0.0', '-0e5', '-1e-400']) assert.is(again(`[${text}]`), '[-0]')
})

for (const text of ['1e400', '[-1e400]', `{"a":${'9'.repeat(400)}}`, '[1.0E+999]']) {
  test(`${text.slice(0, 20)} is refused`, () =>
    assert.throws(
      () => parseExact(text),
      (error: unknown) => error instanceof NumberOutOfRange,
    ))
}

test('an own __proto__ stays an own member and changes no prototype', () => {
  const value = parseExact('{"__proto__":{"admin":true},"big":12345678901234567890}') as object
  assert.ok(Object.hasOwn(value, '__proto__'))
  assert.is(Object.getPrototypeOf(value), Object.prototype)
})

test('every JSON value comes back as JSON.stringify writes it', () =>
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value)
      assert.is(again(text), Object.is(value, -0) ? text : text)
    }),
  ))

test('every integer comes back in all its digits', () =>
  fc.assert(fc.property(fc.bigInt(), (value) => assert.is(again(`{"n":[${value}]}`), `{"n":[${value}]}`))))

test('text is made once', () => {
  const value = { a: 1 }
  assert.is(textOf(value), '{"a":1}')
  ;(value as { a: number }).a = 2
  assert.is(textOf(value), '{"a":1}')
})

test('depth counts objects and lists', () => {
  const nested = (depth: number) => parseExact(`${'['.repeat(depth)}1${']'.repeat(depth)}`)
  assert.is(isDeeperThan(nested(500), 500), false)
  assert.is(isDeeperThan(nested(501), 500), true)
  assert.is(isDeeperThan(1, 0), false)
})

test('NUL and lone surrogates cannot be stored as text', () => {
  assert.ok(isUnstorable('a\0'))
  assert.ok(isUnstorable('\ud800'))
  assert.not(isUnstorable('🙂 é'))
})

test.run()
