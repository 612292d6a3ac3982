import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BOTTOM } from '../../../src/server/search/cursor.ts'
import { piecesIn, tablesOf } from '../../../src/server/search/pieces.ts'
import { segmentName, segmentsOfNames } from '../../../src/tables/search.ts'
import { runs } from '../../support/runs.ts'

const test = suite('search: pieces of segments')

/** Segments of any lengths, the newest first. The newest has level 0. */
const Segments = fc
  .array(fc.record({ length: fc.integer({ min: 1, max: 3_000 }), level: fc.integer({ min: 0, max: 3 }) }), {
    maxLength: 6,
  })
  .map((given) => {
    let start = 0n
    const older = given.map(({ length, level }) => {
      const segment = { start, level }
      start += BigInt(length * 8 ** level)
      return segment
    })
    return segmentsOfNames([...older, { start, level: 0 }].map(segmentName))
  })

const top = { seq: 10n ** 12n, ordinal: 0 }

test('each position is in one piece, the newest first, and the pieces of a range are those that have its positions', () => {
  fc.assert(
    fc.property(Segments, fc.nat(5_000_000), fc.nat(5_000_000), (segments, a, b) => {
      const all = piecesIn(segments, { below: top, downTo: BOTTOM })
      const starts = all.map(({ from }) => from)
      assert.equal(
        starts,
        [...new Set(starts)].toSorted((x, y) => Number(y - x)),
      )
      for (const { segment, from } of all)
        assert.ok(from >= segment.start && (segment.end === undefined || from < segment.end))
      for (const { start, level } of segments)
        assert.ok(all.filter(({ segment }) => segment.start === start).length <= 8 ** level)
      const [low, high] = [BigInt(Math.min(a, b)), BigInt(Math.max(a, b))]
      const some = piecesIn(segments, { below: { seq: high, ordinal: 0 }, downTo: { seq: low, ordinal: 0 } })
      const has = (position: bigint) => some.some(({ from }) => from === starts.find((start) => start <= position))
      assert.ok(has(low) && has(high))
    }),
    { numRuns: runs(200) },
  )
})

test('a segment is read as a whole, or by the numbers of its slices', () => {
  const segments = segmentsOfNames(['search_docs_0_1', 'search_docs_100_0', 'search_docs_120_0'])
  const pieces = piecesIn(segments, { below: top })
  assert.equal(
    pieces.map(({ from }) => Number(from)),
    [120, 100, 91, 78, 65, 52, 39, 26, 13, 0],
  )
  const isOfPieces = `array[((seq - 0) / 13)::int4] && '{7,6}'::int4[]`
  assert.equal(tablesOf(pieces.slice(1, 4)), [{ name: 'search_docs_100_0' }, { name: 'search_docs_0_1', isOfPieces }])
  assert.equal(tablesOf(pieces.slice(2)), [{ name: 'search_docs_0_1' }])
})

test.run()
