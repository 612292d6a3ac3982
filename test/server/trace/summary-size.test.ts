import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { columnOf } from '../../../src/tables/main.ts'
import { SHORT_TEXT } from '../../../src/base/texts.ts'
import { givenTexts, listedNames } from '../../../src/contract/trace-texts.ts'
import { summarySize } from '../../../src/server/trace/queries.ts'

const test = suite('trace: the size of a summary')

const mayBeLong = (name: string): boolean =>
  Object.entries(givenTexts).some(
    ([given, schema]) => given === name && schema.safeParse('a'.repeat(SHORT_TEXT + 1)).success,
  )

test('it counts each text of a list that may be long', () => {
  const uncounted = listedNames.filter((name) => mayBeLong(name) && !summarySize.includes(`t.${columnOf[name]}::`))
  assert.equal(uncounted, [])
})

test.run()
