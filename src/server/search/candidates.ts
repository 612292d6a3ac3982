import { TRACE_ITSELF, segmentName } from '../../tables/search.ts'
import type { Point } from './cursor.ts'
import { type Piece, type Table, piecesIn, tablesOf, sameLevel } from './pieces.ts'
import type { ReadRows } from './reads.ts'
import { type IndexQuery, type Range, type Row, countsStatement, rowsStatement } from './statements.ts'

/** A row that the index proposes. */
export type Candidate = Point & {
  readonly traceId: string
  /** The incarnation of the trace when the row was written. */
  readonly incarnation: bigint
  /** The best place of its texts, as an index of `allPlaces`. */
  readonly place: number
}

/** The limit of rows of the first statement, which is enough for a frequent word. It is doubled while the same pieces have more rows. */
const FIRST_LIMIT = 300
/** The highest limit of rows of a statement. */
const MOST_LIMIT = 2_000

/**
 * A query counts as frequent if the pieces asked by a statement have 100 matching rows, or 6 for each trace that matches: then the next statement
 * asks as many pieces as the last one. Matches of a less frequent one may be in any piece, so the next statement asks four times as many.
 */
const FREQUENT = { rows: 100, rowsOfEachTrace: 6 }
const MOST_PIECES = 64

/**
 * A query counts as rare if the first 11 pieces have fewer matching rows than this. Then whole tables are counted, a level at a time, and only those with
 * matches are asked, as long as none has more than a statement proposes. So what it costs depends on the number of tables, not on that of rows.
 */
const RARE = { pieces: 11, rows: 8 }
/** How many pieces the next statement asks when a table turns out to have more matches. */
const PIECES_AGAIN = 8

/** What the next statement asks: tables, or nothing if it is known that they have no row, and the pieces that are done with that. */
type Asked = { readonly tables: readonly Table[]; readonly pieces: readonly Piece[] }

/** What a statement proposes, and the point down to which all rows have been considered. */
type Proposed = { readonly proposed: readonly Candidate[]; readonly end: Point }

/** The rows that a statement has proposed so far, which decide how much the next one asks. */
const newTally = () => {
  const traces = new Set<string>()
  let count = 0
  return {
    add: (found: readonly Row[]) => {
      count += found.length
      for (const { trace_id: id } of found) traces.add(id)
    },
    count: () => count,
    isFrequent: () => count >= FREQUENT.rows || (count > 0 && count >= FREQUENT.rowsOfEachTrace * traces.size),
  }
}

/** The tables of the next level, without those that have no matching row. Undefined if one of them has too many. */
const rareIn = async (readRows: ReadRows, wanted: IndexQuery, left: readonly Piece[]): Promise<Asked | undefined> => {
  const { segments, pieces } = sameLevel(left)
  const names = segments.map(segmentName)
  const { text, values } = countsStatement(names, wanted, FIRST_LIMIT + 1)
  const [row] = await readRows<{ counts: number[] }>('', text, values)
  const { counts } = row!
  if (counts.some((count) => count > FIRST_LIMIT)) return undefined
  return { tables: names.filter((_, i) => counts[i]! > 0).map((name) => ({ name })), pieces }
}

/** Says what each statement asks. */
const newPlan = (readRows: ReadRows, wanted: IndexQuery, all: readonly Piece[]) => {
  let done = 0
  let rows = 0
  let pieceCount = 1
  let isRare: boolean | undefined

  const next = async (): Promise<Asked> => {
    const left = all.slice(done)
    if (done >= RARE.pieces) isRare ??= rows < RARE.rows
    const rare = isRare ? await rareIn(readRows, wanted, left) : undefined
    if (isRare && !rare) [isRare, pieceCount] = [false, PIECES_AGAIN]
    const pieces = left.slice(0, pieceCount)
    return rare ?? { pieces, tables: tablesOf(pieces) }
  }

  return {
    isDone: () => done === all.length,
    next,
    finish: ({ pieces }: Asked, tally: ReturnType<typeof newTally>) => {
      if (!tally.isFrequent()) pieceCount = Math.min(done === 0 ? 2 : pieceCount * 4, MOST_PIECES)
      rows += tally.count()
      done += pieces.length
    },
  }
}

const rowsIn = async (readRows: ReadRows, { tables }: Asked, wanted: IndexQuery, range: Range, limit: number) => {
  if (tables.length === 0) return []
  const { text, values } = rowsStatement(tables, wanted, range, limit)
  return readRows<Row>('', text, values)
}

/**
 * Yields the rows that the index proposes, the newest first; some of them may not match the query, and the caller may not read some.
 * @param most proposals of all statements together
 */
export async function* candidates(
  readRows: ReadRows,
  wanted: IndexQuery,
  range: Range,
  most: number,
): AsyncGenerator<Proposed> {
  const plan = newPlan(readRows, wanted, piecesIn(wanted.segments, range))
  let { below } = range
  let remaining = most
  while (!plan.isDone() && remaining > 0) {
    const asked = await plan.next()
    const tally = newTally()
    for (let rowLimit = FIRST_LIMIT, hasMore = true; hasMore && remaining > 0;) {
      const limit = Math.min(rowLimit, remaining)
      const found = await rowsIn(readRows, asked, wanted, { ...range, below }, limit)
      remaining -= found.length
      tally.add(found)
      hasMore = found.length === limit
      below = hasMore ? found.at(-1)! : { seq: asked.pieces.at(-1)!.from, ordinal: TRACE_ITSELF }
      yield { proposed: found.map(({ trace_id: traceId, ...row }) => ({ traceId, ...row })), end: below }
      rowLimit = Math.min(rowLimit * 2, MOST_LIMIT)
    }
    plan.finish(asked, tally)
  }
}
