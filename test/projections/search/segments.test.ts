import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toMerge } from '../../../projections/search/segments.ts'
import { runs } from '../../support/runs.ts'

const test = suite('projections: which segments of the search index are merged')

test('neighbours are merged until at most seven of a level are left, and none loses its place', () => {
  const levels = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 200 })
  fc.assert(
    fc.property(levels, (given) => {
      let all = given.toSorted((a, b) => b - a).map((level, i) => ({ level, parts: [[level, i]] }))
      const before = all.flatMap(({ parts }) => parts)
      for (;;) {
        const found = toMerge(all)
        if (!found) break
        const { some, level } = found
        assert.is(some.reduce((sum, one) => sum + 8 ** one.level, 0), 8 ** level) // prettier-ignore
        all = all.toSpliced(all.indexOf(some[0]!), some.length, { level, parts: some.flatMap(({ parts }) => parts) })
      }
      assert.equal(all.flatMap(({ parts }) => parts), before) // prettier-ignore
      for (const level of [0, 1, 2]) assert.ok(all.filter((one) => one.level === level).length < 8)
    }),
    { numRuns: runs(200) },
  )
  assert.is(toMerge([...Array<number>(7).fill(1), ...Array<number>(8).fill(0)].map((level) => ({ level })))?.level, 2)
})

test.run()
