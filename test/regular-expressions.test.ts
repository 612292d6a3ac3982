import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expressions, REDACTION, slowOnes } from './support/regular-expressions.ts'

const test = suite('regular expressions')

test('take time in proportion to what they are given', async () => {
  const found = expressions().filter(({ file }) => !file.startsWith(REDACTION))
  assert.ok(found.flatMap(({ literals }) => literals).length > 50)
  assert.equal(await slowOnes(found), [])
})

test('are written out, so that they can be checked', () => {
  assert.equal(
    expressions()
      .filter(({ isBuilt }) => isBuilt)
      .map(({ file }) => file),
    [],
  )
})

test.run()
