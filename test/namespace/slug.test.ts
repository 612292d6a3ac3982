import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newInviteCode } from '../../src/namespace/invite-code.ts'
import { isReserved, normalizeSlug } from '../../src/namespace/slug.ts'

const test = suite('slugs and codes')

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
  test(`${JSON.stringify(text)} is none`, () => assert.is(normalizeSlug(text), undefined))
}

test('words of the service are reserved', () => {
  for (const word of ['admin', 'health', 'v1', 'www', 'metrics', 'signup']) assert.ok(isReserved(word), word)
  assert.not.ok(isReserved('acme'))
})

test('codes are nine alphanumerics, and all of them turn up', () => {
  const all = Array.from({ length: 2_000 }, newInviteCode)
  for (const code of all) assert.match(code, /^[A-Za-z0-9]{9}$/)
  assert.is(new Set(all).size, all.length)
  assert.is(new Set(all.join('')).size, 62)
})

test.run()
