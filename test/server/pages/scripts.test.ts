import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readScripts } from '../../../src/server/pages/scripts.ts'

const test = suite('the scripts of pages')

const scripts = await readScripts()

/** Kilobytes of 1,000 bytes, as they are sent with gzip. */
const size = (names: RegExp): number =>
  scripts.filter(({ name }) => names.test(name)).reduce((sum, { content }) => sum + gzipSync(content).length / 1_000, 0)

for (const [what, names, most] of [
  ['what every page loads', /^(?:main|chunk)-/, 25],
  ['what the page of a long session loads', /./, 40],
] as const)
  test(`${what} has at most ${most} kB`, () => {
    const kilobytes = size(names)
    assert.ok(kilobytes > 5 && kilobytes <= most, `${kilobytes} kB`)
  })

test('each script has a hash of its content in its name', () => {
  for (const { name } of scripts) assert.match(name, /^\w+-[A-Z0-9]{8}\.js$/)
})

test.run()
