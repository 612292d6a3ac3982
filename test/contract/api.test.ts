import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { api } from '../../src/contract/api.ts'
import { documentOf } from '../../src/server/http/openapi-document.ts'

const test = suite('the contract')
const file = new URL('api-digests.json', import.meta.url)

/** What only people read. */
const WORDS = new Set(['summary', 'description', 'tags', 'example', 'examples'])

/** A value without words; the members of objects are sorted, unless they are the names of properties. */
const withoutWords = (value: unknown, isNames = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => withoutWords(item))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => isNames || !WORDS.has(key))
  return Object.fromEntries(
    kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, withoutWords(member, key === 'properties')]),
  )
}

const digestOf = (value: unknown) =>
  createHash('sha256')
    .update(JSON.stringify(withoutWords(value)))
    .digest('hex')
    .slice(0, 12)

const { paths, components } = documentOf(api)
const digests = Object.fromEntries([
  ...Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, digestOf(operation)]),
  ),
  ...Object.entries(components.schemas).map(([name, schema]) => [`schema ${name}`, digestOf(schema)]),
]) as Record<string, string>

// Where a change is meant: UPDATE_DIGESTS=1 npm test -- contract/api
if (process.env.UPDATE_DIGESTS) writeFileSync(file, `${JSON.stringify(digests, null, 2)}\n`)
const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>

test('its operations, parameters, answers and schemas are those that clients know', () => {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(digests)])]
  const changed = names.filter((name) => stored[name] !== digests[name])
  assert.equal(changed, [], 'these have changed for clients: if that is meant, store their digests')
})

test('a changed description is no change for clients, a changed name of a property is one', () => {
  const schema = {
    type: 'object',
    properties: { summary: { type: 'string', description: 'A' } },
    required: ['summary'],
  }
  const worded = { ...schema, properties: { summary: { type: 'string', description: 'B' } } }
  const renamed = { ...schema, properties: { title: { type: 'string', description: 'A' } } }
  assert.is(digestOf(worded), digestOf(schema))
  assert.is.not(digestOf(renamed), digestOf(schema))
})

test.run()
