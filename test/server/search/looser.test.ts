import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { looserThan } from '../../../src/server/search/looser.ts'
import { readQuery } from '../../../src/server/search/query.ts'
import { clock } from './support/clock.ts'

const test = suite('queries that are looser than one that finds nothing')

test('they leave out fields, excluded words, times, quotation marks and words, or write words otherwise', () => {
  for (const [text, expected] of [
    [
      '"no such file"  has:error since:7d -test',
      [
        'without: "no such file" since:7d -test',
        'without: "no such file" has:error since:7d',
        'any time: "no such file" has:error -test',
        'unquoted: no such file has:error since:7d -test',
        'words only: no such file',
        'any word: no OR such OR file',
      ],
    ],
    ['getUserNames', ['in parts: get user names', 'other forms: getUserNames OR getUserName']],
    [
      'errors src/app.ts',
      [
        'in parts: errors src app ts',
        'other forms: errors OR error src/app.ts',
        'without: src/app.ts',
        'without: errors',
        'any word: errors OR src/app.ts',
      ],
    ],
    ['jest OR vitest', ['other forms: jest OR jests OR vitest OR vitests', 'words only: jest vitest']],
    ['xyz:"a b"', ['unquoted: xyz:a b', 'any word: xyz:a OR b']],
    ['has:error', []],
    ['"', []],
    ['', []],
  ] as const)
    assert.equal(
      looserThan(text).map(({ how, q }) => `${how}: ${q}`),
      expected,
      text,
    )
})

test('they are different queries with words or fields, of which each is offered once', () => {
  const pieces = fc.constantFrom(
    'a',
    'getUser',
    '"b c"',
    'has:error',
    '-d',
    'OR',
    'to:today',
    'is:x',
    '"',
    '-',
    '登录',
    ' ',
  )
  const property = fc.property(fc.array(pieces, { maxLength: 8 }), (all) => {
    const text = all.join(' ')
    const found = looserThan(text).map(({ q }) => q)
    assert.is(new Set(found).size, found.length)
    for (const q of found) {
      const { texts, excluded, conditions, from, to, notUnderstood } = readQuery(q, clock)
      assert.ok(
        texts.length + excluded.length + conditions.size + notUnderstood.length > 0 || from || to,
        `${text} → ${q}`,
      )
      assert.is.not(q, text)
    }
  })
  fc.assert(property, { numRuns: 1_000 })
})

test.run()
