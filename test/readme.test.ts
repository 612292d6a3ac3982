import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Environment } from '../src/config.ts'

const test = suite('README')
const root = join(import.meta.dirname, '..')
const text = readFileSync(join(root, 'README.md'), 'utf8')
const schemas = Environment.shape

/** The rows of the configuration table: a variable and its default, `–` for none. */
const rows = new Map(
  [...text.matchAll(/^\| `([A-Z][A-Z_]+)` \| (?:`([^`]+)`|–) \| \S.*\|$/gm)].map(([, name, value]) => [name!, value]),
)

test('lists every variable of the configuration, and no other', () => {
  assert.equal([...rows.keys()].sort(), Object.keys(schemas).sort())
})

for (const [name, schema] of Object.entries(schemas)) {
  test(`gives the default of ${name}`, () => {
    const given = rows.get(name)
    const usual = schema.parse(undefined)
    if (given === undefined) assert.ok(usual === undefined || (Array.isArray(usual) && usual.length === 0), `${usual}`)
    else assert.equal(schema.parse(given), usual)
  })
}

test('links to files that are there', () => {
  for (const [, path] of text.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)) assert.ok(existsSync(join(root, path!)), path)
  for (const [, path] of text.matchAll(/`((?:src|test|projections|\.ci)\/[\w./-]+)`/g))
    assert.ok(existsSync(join(root, path!)), path)
})

test('runs npm scripts that there are', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  for (const [, name] of text.matchAll(/npm run (?:-s )?([a-z]+)/g)) assert.ok(Object.hasOwn(scripts, name!), name)
})

test.run()
