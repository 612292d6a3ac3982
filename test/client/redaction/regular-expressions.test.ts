import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expressions, REDACTION, slowOnes } from '../../support/regular-expressions.ts'

const test = suite('regular expressions that find secrets')

for (const { file, literals } of expressions().filter(({ file }) => file.startsWith(REDACTION)))
  if (literals.length > 0)
    test(`the regular expressions of ${file} take time proportional to the length of the text`, async () => {
      // Few iterations are enough for expressions without repetitions of repetitions.
      assert.equal(await slowOnes([{ file, literals, isBuilt: false }], { maxIteration: 3 }), [])
    })

test.run()
