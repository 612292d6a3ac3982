import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { indexed, openSearch, searchAs } from './support/open-search.ts'
import { runs } from '../../support/runs.ts'

const test = suite('search: hostile queries')

const { app, token, write } = await openSearch(test)
await write('one', [
  'a word, getUserName, src/http/app.ts, 登录 "quoted" -minus 0a1b2c3d4e5f60718',
  { role: 'assistant' },
])
await indexed(app)

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      'a',
      'OR',
      '-',
      '--',
      '"',
      '""',
      '"a',
      ':',
      'in:',
      'in:prompt',
      'has:error',
      'is:public',
      'from:',
      'from:0',
      'to:1',
    ],
  ),
  fc.constantFrom(
    ...[
      'agent:"',
      'author:x',
      'namespace:../',
      'tool:*',
      "';--",
      '%',
      '_',
      '\\',
      '\0',
      '\ud800',
      '\udc00x',
      '登',
      '录"',
      '$$',
      '()',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 30 }),
)
const query = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(' ').slice(0, 400))

test('any query is answered', () =>
  fc.assert(
    fc.asyncProperty(query, async (q) => {
      // As people's browsers send it: a lone surrogate is replaced.
      const { results } = await searchAs(app, token, `q=${encodeURIComponent(q.toWellFormed())}&facets=tool,role`)
      assert.ok(results.length <= 1)
    }),
    { numRuns: runs(250) },
  ))

test('an invalid cursor is refused, and no cursor shows what the caller may not read', async () => {
  const cursor = (...keys: unknown[]) => Buffer.from(JSON.stringify(keys)).toString('base64url')
  for (const bad of [
    '',
    'x',
    cursor(),
    cursor('1', 0, '1', 0, null, 0),
    cursor('-1', 0, '1', 0, null, 0, ''),
    cursor('9'.repeat(19), 0, '1', 0, null, 0, ''),
  ]) {
    const { status } = await app.call('GET', `/v1/search?q=word&cursor=${bad}`, { token })
    assert.is(status, 400, bad)
  }
  const all = cursor('999999999', 999_999_999, '999999999', 0, '0', -1, '')
  assert.equal((await searchAs(app, undefined, `q=word&cursor=${all}`)).results, [])
})

test.run()
