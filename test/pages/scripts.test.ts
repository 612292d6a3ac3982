import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readScripts } from '../../src/pages/scripts.ts'

const test = suite('the scripts of pages')

/** Kilobytes of 1,000 bytes, as they are sent with gzip. */
const MOST_OF_A_PAGE = 25

test('what every page loads is small', async () => {
  const sizes = (await readScripts())
    .filter(({ name }) => name.startsWith('main-'))
    .map(({ content }) => gzipSync(content).length / 1_000)
  assert.is(sizes.length, 1)
  assert.ok(sizes[0]! <= MOST_OF_A_PAGE, `${sizes[0]} kB`)
})

test.run()
