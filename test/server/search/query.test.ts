import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fieldsIn, readQuery } from '../../../src/server/search/query.ts'

const test = suite('reading the text of a query')

const read = (text: string) => {
  const { conditions, ...rest } = readQuery(text)
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
    ['agent: :x in:nowhere is:secret from:yesterday http://x', [['agent:'], [':x'], ['in:nowhere'], ['is:secret'], ['from:yesterday'], ['http://x']]], // prettier-ignore
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
    const { texts, excluded } = readQuery(text)
    for (const one of [...texts.flat(), ...excluded]) assert.ok(text.includes(one) && one.trim() !== '')
    assert.ok(texts.flat().length + excluded.length <= 16)
  })
  fc.assert(property, { numRuns: 5_000 })
})

test('fieldsIn finds the fields of a query, each with the query without it', () => {
  assert.equal(fieldsIn('-agent:x  a "b c" from:2026-01-01T00:00:00Z in:nowhere'), [
    { word: '-agent:x', rest: 'a "b c" from:2026-01-01T00:00:00Z in:nowhere' },
    { word: 'from:2026-01-01T00:00:00Z', rest: '-agent:x  a "b c" in:nowhere' },
  ])
})

test.run()
