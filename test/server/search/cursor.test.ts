import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  BOTTOM,
  cursorOf,
  firstPageStart,
  isBelow,
  nextPageStart,
  type PageStart,
  pageStartIn,
  shortId,
} from '../../../src/server/search/cursor.ts'

/** A trace with one row that matches, and how well it does. */
type Row = { readonly traceId: string; readonly seq: bigint; readonly score: number }

const rowsOf = (scores: readonly number[]): Row[] =>
  scores
    .map((score, i) => ({
      traceId: `${String(i).padStart(12, '0')}-0000-0000-000000000000`,
      seq: BigInt(i + 1),
      score,
    }))
    .toReversed()

/**
 * Pages of a search whose windows end after any number of rows, which is the same search in small: the best traces of a window come first. A window
 * whose end is known may be searched in part only, as on a machine that is busy.
 */
const pagesOf = (rows: readonly Row[], limit: number, steps: readonly number[]): string[][] => {
  const pages: string[][] = []
  let start: PageStart | undefined = firstPageStart(BigInt(rows.length), 0)
  for (let i = 0; start; i++) {
    const { below, downTo = BOTTOM, shown }: PageStart = start
    const place = ({ seq }: Row) => ({ seq, ordinal: 0 })
    const left = rows.filter((row) => isBelow(place(row), below) && !isBelow(place(row), downTo))
    const searched = left.slice(0, 1 + (steps[i % steps.length] ?? 0))
    const end = searched.length < left.length ? place(searched.at(-1)!) : downTo
    const notShown = searched
      .toSorted((a, b) => b.score - a.score)
      .map(({ traceId }) => traceId)
      .filter((id) => !shown.has(shortId(id)))
    const page = notShown.slice(0, limit)
    pages.push(page)
    const next = nextPageStart(start, end, page, notShown.length > limit)
    start = next && pageStartIn(cursorOf(next))
  }
  return pages
}

test('pages show each trace once, however far each of them could search', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(9), { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat(20), { minLength: 1, maxLength: 12 }),
      (scores, limit, steps) => {
        const rows = rowsOf(scores)
        const shown = pagesOf(rows, limit, steps).flat()
        assert.equal(shown.toSorted(), rows.map(({ traceId }) => traceId).toSorted())
      },
    ),
  )
})

test.run()
