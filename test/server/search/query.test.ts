import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fieldsIn, listedFields, meantBy, readQuery } from '../../../src/server/search/query.ts'
import { spanIn } from '../../../src/server/search/times.ts'
import { clock } from './support/clock.ts'

const test = suite('reading the text of a query')

const read = (text: string) => {
  const { conditions, notUnderstood: _, ...rest } = readQuery(text, clock)
  return { ...rest, conditions: Object.fromEntries(conditions) }
}
const plain = { texts: [], excluded: [], conditions: {} }

test('a query can have words, phrases, excluded texts and alternatives', () => {
  for (const [text, expected] of [
    ['', plain],
    ['two words', { ...plain, texts: [['two'], ['words']] }],
    ['"a phrase" word', { ...plain, texts: [['a phrase'], ['word']] }],
    ['word -other -"no phrase"', { ...plain, texts: [['word']], excluded: ['other', 'no phrase'] }],
    ['a OR "b c" d', { ...plain, texts: [['a', 'b c'], ['d']] }],
    ['a OR b OR c', { ...plain, texts: [['a', 'b', 'c']] }],
    ['src/http/app.ts well-known', { ...plain, texts: [['src/http/app.ts'], ['well-known']] }],
  ] as const)
    assert.equal(read(text), expected, text)
})

test('fields of a query are conditions, which may have several values', () => {
  assert.equal(read('agent:codex agent:pi -tool:bash project:"my app" in:prompt is:public has:error').conditions, {
    agent: { any: ['codex', 'pi'], none: [] },
    tool: { any: [], none: ['bash'] },
    project: { any: ['my app'], none: [] },
    in: { any: ['prompt'], none: [] },
    is: { any: ['public'], none: [] },
    has: { any: ['error'], none: [] },
  })
  assert.equal(read('from:1000 to:1970-01-01T00:00:02Z'), { ...plain, from: 1000, to: 2000 })
})

test('a text that is not a field is words', () => {
  for (const [text, texts] of [
    ['OR', [['OR']]],
    ['a OR', [['a'], ['OR']]],
    ['OR OR', [['OR'], ['OR']]],
    ['-', [['-']]],
    ['"open phrase', [['"open'], ['phrase']]],
    ['"" " "', []],
    ['agent: :x http://x localhost:3000 std::vector', [['agent:'], [':x'], ['http://x'], ['localhost:3000'], ['std::vector']]], // prettier-ignore
  ] as const)
    assert.equal(read(text).texts, texts, text)
})

test('any text is a query, which has nothing that is not in the text', () => {
  const piece = fc.constantFrom(
    'a',
    '"',
    '-',
    ':',
    ' ',
    'OR',
    'in:',
    'prompt',
    'agent:',
    '\u0000',
    '\ud83d',
    '\n',
    '(',
    '\\',
  )
  const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
    const text = pieces.join('')
    const { texts, excluded } = readQuery(text, clock)
    for (const one of [...texts.flat(), ...excluded]) assert.ok(text.includes(one) && one.trim() !== '')
    assert.ok(texts.flat().length + excluded.length <= 16)
  })
  fc.assert(property, { numRuns: 5_000 })
})

test('times are days of the zone, so long ago, or moments', () => {
  const at = (text: string) => Date.parse(text)
  for (const [text, expected] of [
    ['from:2026-05-06', { from: at('2026-05-05T22:00Z') }],
    ['since:2026-05-06', { from: at('2026-05-05T22:00Z') }],
    ['to:2026-05-06', { to: at('2026-05-06T22:00Z') - 1 }],
    ['from:yesterday to:yesterday', { from: at('2026-05-04T22:00Z'), to: at('2026-05-05T22:00Z') - 1 }],
    ['since:today', { from: at('2026-05-05T22:00Z') }],
    ['since:7d', { from: at('2026-04-29T12:00Z') }],
    ['since:2h to:1w', { from: at('2026-05-06T10:00Z'), to: at('2026-04-29T12:00Z') }],
    ['from:2026-05-06T01:00:00Z', { from: at('2026-05-06T01:00Z') }],
    // The clocks are changed in these days.
    ['from:2026-03-29 to:2026-03-29', { from: at('2026-03-28T23:00Z'), to: at('2026-03-29T22:00Z') - 1 }],
    ['from:2026-10-25 to:2026-10-25', { from: at('2026-10-24T22:00Z'), to: at('2026-10-25T23:00Z') - 1 }],
  ] as const)
    assert.equal(read(text), { ...plain, ...expected }, text)
})

test('each day of each zone begins when its date does', () => {
  const zones = ['UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia', 'Africa/Cairo', 'America/Santiago']
  const property = fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 20_000 }), (zone, day) => {
    const date = new Date(day * 86_400_000).toISOString().slice(0, 10)
    const span = spanIn(date, { now: 0, zone })!
    const dateOf = (at: number) => new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(at)
    if (dateOf(span.from) !== date)
      return assert.ok(span.to < span.from || dateOf(span.from) > date, 'the day was skipped')
    assert.ok(dateOf(span.from - 1) < date)
    assert.is(dateOf(span.to), date)
    assert.ok(dateOf(span.to + 1) > date)
  })
  fc.assert(property, { numRuns: 500 })
})

test('a value that a field does not take is left out, and said', () => {
  for (const [text, why] of [
    ['from:tomorow', 'from: takes a day'],
    ['to:2026-02-31', 'to: takes a day'],
    ['-since:7d', 'since: cannot be excluded'],
    ['in:nowhere', 'in: takes prompt, answer, thinking, call or output'],
    ['-is:secret', 'is: takes public'],
    ['agent:""', 'agent: needs a value'],
  ] as const) {
    const query = readQuery(`word ${text}`, clock)
    assert.equal(query.texts, [['word']], text)
    assert.is(query.notUnderstood[0]!.text, text)
    assert.match(query.notUnderstood[0]!.why, why)
  }
})

test('lists of sessions take the fields of sessions, and say which only the search takes', () => {
  const query = readQuery('has:changes -has:error project:shop tool:bash in:prompt role:user', clock, listedFields)
  assert.equal(Object.fromEntries(query.conditions), {
    has: { any: ['changes'], none: ['error'] },
    project: { any: ['shop'], none: [] },
  })
  assert.equal(
    query.notUnderstood.map(({ why }) => why),
    ['tool', 'in', 'role'].map((field) => `the field ${field}: is for the search only`),
  )
  assert.match(readQuery('has:changes', clock).notUnderstood[0]!.why, 'has: takes error')
})

test('the name of no field may stand for the nearest one that takes the value', () => {
  const meant = (text: string) => meantBy(readQuery(text, clock), clock).map(({ instead }) => instead)
  for (const [text, instead] of [
    ['porject:shop', 'project:shop'],
    ['words Agent:codex', 'agent:codex'],
    ['projects:"my app"', 'project:"my app"'],
    ['form:yesterday', 'from:yesterday'],
    ['tools:x bran:main', 'tool:x'],
  ] as const)
    assert.is(meant(text)[0], instead, text)
  for (const text of [
    ...['localhost:3000', 'std::vector', 'http://x', 'node:fs', 'form:data', 'hash:x', 'agent:codex', 'a b'],
    `${'x'.repeat(390)}:y`,
  ])
    assert.equal(meant(text), [], text)
})

test('fieldsIn finds the fields of a query, each with the query without it', () => {
  assert.equal(fieldsIn('-agent:x a "b c" since:7d in:nowhere'), [
    { word: '-agent:x', rest: 'a "b c" since:7d in:nowhere' },
    { word: 'since:7d', rest: '-agent:x a "b c" in:nowhere' },
    { word: 'in:nowhere', rest: '-agent:x a "b c" since:7d' },
  ])
})

test.run()
