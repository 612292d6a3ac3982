import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { NumberOutOfRange, isDeeperThan, isUnstorable, parseExact } from '../../../src/base/json/exact.ts'

const test = suite('json: parsing without loss')
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
  '{"b":1,"0":2,"a":3}',
  '{"2":1,"1":2,"01":3,"4294967294":4,"9":5}',
  '[{"x":[{"7":{"y":1},"3":12345678901234567890}]},{"a":-0}]',
  '"a\\u0000b\\ud800"',
]) {
  test(`${text} stays the same`, () => assert.is(again(text), text))
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

test('every JSON value is written as by JSON.stringify', () =>
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value)
      assert.is(again(text), Object.is(value, -0) ? text : text)
    }),
  ))

test('every integer keeps all its digits', () =>
  fc.assert(fc.property(fc.bigInt(), (value) => assert.is(again(`{"n":[${value}]}`), `{"n":[${value}]}`))))

test('any keys in any order, at any depth, stay the same', () => {
  const key = fc.oneof(fc.constantFrom('0', '7', '12', '01', '-1', '1.5', '4294967295', 'a', '__proto__'), fc.string())
  const { text } = fc.letrec((tie) => ({
    text: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('1', 'null', '"x"', '9007199254740993'),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('text') as fc.Arbitrary<string>, { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    object: fc
      .uniqueArray(fc.tuple(key, tie('text') as fc.Arbitrary<string>), { selector: ([name]) => name, maxLength: 4 })
      .map((members) => `{${members.map(([name, member]) => `${JSON.stringify(name)}:${member}`).join(',')}}`),
  }))
  fc.assert(fc.property(text as fc.Arbitrary<string>, (json) => assert.is(again(json), json)))
})

test('a repeated key keeps its first place and its last value', () => {
  assert.is(again('{"b":1,"0":2,"b":{"1":1,"a":2}}'), '{"b":{"1":1,"a":2},"0":2}')
})

test('equal keys are equal, however they are escaped', () => {
  assert.is(
    again('{ "b\\\\" :1,\r\n\t"\\u0031"\n:"\\\\\\":", "\\"":{"\u2028":[] ,"0" : ":" } }'),
    '{"b\\\\":1,"1":"\\\\\\":","\\"":{"\u2028":[],"0":":"}}',
  )
  assert.is(again('{"b":1,"0":2,"\\u0062":{"1":1,"a":2},"\\u0030":3}'), '{"b":{"1":1,"a":2},"0":3}')
})

test('objects that are made of parsed values keep their order, at any depth', () => {
  const { a, b } = parseExact('{"b":[1],"a":[{"y":{"x":1,"0":2}}],"1":3}') as { a: object; b: object }
  assert.is(JSON.stringify({ b, none: undefined, a: { a } }), '{"b":[1],"a":{"a":[{"y":{"x":1,"0":2}}]}}')
  const object = parseExact('{"b":1,"0":2,"a":3}') as object
  assert.equal(
    [Object.keys(object), Object.values(object), Object.hasOwn(object, '0')],
    [['b', '0', 'a'], [1, 2, 3], true],
  )
})

test('depth does not multiply the memory of a body', () => {
  const [depth, length] = [450, 12_000_000]
  const text = `${'{"x":0,"y":'.repeat(depth)}{"b":1,"0":"${'x'.repeat(length)}"}${'}'.repeat(depth)}`
  assert.ok(again(text) === text)
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
