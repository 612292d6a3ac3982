import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isReserved, normalizeSlug } from '../../../src/server/namespace/slug.ts'

const test = suite('slugs')

for (const [text, slug] of [
  ['acme', 'acme'],
  ['  ACME \t', 'acme'],
  ['a', 'a'],
  ['0-9', '0-9'],
  ['a'.repeat(64), 'a'.repeat(64)],
] as const) {
  test(`${JSON.stringify(text)} is a slug`, () => assert.is(normalizeSlug(text), slug))
}

for (const text of [
  '',
  ' ',
  '-a',
  'a-',
  'a--b',
  'a b',
  'a_b',
  'ä',
  'a.b',
  'a/b',
  'a\nb',
  'a\0',
  'a'.repeat(65),
  '\ud83d',
]) {
  test(`${JSON.stringify(text)} is not a slug`, () => assert.is(normalizeSlug(text), undefined))
}

test('words of the service are reserved', () => {
  for (const word of ['assets', 'oembed', 'search', 'compare', 'admin', 'health', 'v1', 'www', 'metrics', 'signup'])
    assert.ok(isReserved(word), word)
  assert.not.ok(isReserved('acme'))
})

test.run()
