import { type Segment, TRACE_ITSELF } from '../../tables/search.ts'
import { int4s, uuids } from '../../eventstore/postgres/arrays.ts'
import { MOST_AHEAD_MS } from '../../base/time-ahead.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import type { Point } from './cursor.ts'
import { type Piece, piecesIn, tablesOf } from './pieces.ts'
import { type Access, type Needed, conditionOf, excludedBy, neededBy } from './plan.ts'
import type { Query } from './query.ts'
import type { ReadRows } from './reads.ts'

/** A row that the index proposes. */
export type Candidate = Point & {
  readonly traceId: string
  /** The incarnation of the trace when the row was written. */
  readonly incarnation: bigint
  /** The best place of its texts, as an index of `allPlaces`. */
  readonly place: number
}

/** The most rows of one trace that are proposed and counted as hits, so that results for a frequent word also have other traces. */
export const MOST_OF_A_TRACE = 12

/** A query to the index. */
export type IndexQuery = {
  readonly query: Query
  /** The namespaces whose traces are looked at, besides those that are public. */
  readonly namespaces: readonly string[]
  /** The segments of the index, the newest first. */
  readonly segments: readonly Segment[]
  readonly hashOf: HashOf
  /** Rows that have waited in the backlog are proposed if it had worked off so many portions when they were added. */
  readonly portions: number
  /** Whether the index alone can answer the query. Then of each trace only the newest rows are proposed. */
  readonly isExact: boolean
}

/** The rows of the index that may be proposed. */
export type Range = {
  readonly below: Point
  readonly downTo?: Point | undefined
  /** Only rows of these traces. */
  readonly traces?: readonly string[]
  /** No rows of these traces. The caller may add to the set while rows are read. */
  readonly except?: ReadonlySet<string>
}

type Row = { trace_id: string; incarnation: bigint; ordinal: number; seq: bigint; place: number }

/** Adds a parameter of a statement, and returns its name in SQL. */
type Add = (value: unknown) => string

/**
 * SQL for the time of a query. The row of a trace itself has the time of its upload, at most `MOST_AHEAD_MS` before its session began: when that was, `newVerifier`
 * looks up.
 */
const inTime = ({ from, to }: Query, add: Add): string[] => [
  ...(from === undefined
    ? []
    : [`d.at >= ${add(from)}::int8 - case when d.ordinal = ${TRACE_ITSELF} then ${MOST_AHEAD_MS} else 0 end`]),
  ...(to === undefined ? [] : [`(d.at <= ${add(to)}::int8 or d.ordinal = ${TRACE_ITSELF})`]),
]

/** SQL that says whether the row `d` matches a query, may be visible to its caller, and belongs to the traces of a range. */
const conditionsOf = (
  { query, namespaces, hashOf, portions }: IndexQuery,
  range: Range,
  access: Access,
  add: Add,
): string => {
  const condition = (needed: Needed) => conditionOf(needed, hashOf, access, add)
  const visible = [filterToken('is', 'public'), ...namespaces.map((id) => filterToken('namespace', id))].map(hashOf)
  const mayBeVisible =
    access === 'by index'
      ? `d.of_trace && ${add(int4s(visible))}::int4[]`
      : `(${visible.map((hash) => `${add(hash)}::int4 = any(d.of_trace)`).join(' or ')})`
  return [
    condition(neededBy(query)),
    ...excludedBy(query).map((excluded) => `not (${conditionOf(excluded, hashOf, 'row by row', add)})`),
    mayBeVisible,
    `d.late <= ${add(portions)}::int4`,
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(range.except?.size ? [`d.trace_id <> all(${add(uuids([...range.except]))}::uuid[])`] : []),
    ...inTime(query, add),
  ].join(' and ')
}

/**
 * SQL for the matching rows of some pieces. The newest segment has no index of hashes: all its rows are read, as they lie in the table,
 * and each is compared. In the others only the index of hashes is used: because of the `+ 0`, PostgreSQL does not use the key of the table.
 */
const rowsOf = (pieces: readonly Piece[], wanted: IndexQuery, range: Range, isNewest: boolean, add: Add): string => {
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const conditions = [
    ...(isNewest ? [`d.ctid >= '(0,0)'`] : []),
    conditionsOf(wanted, range, isNewest ? 'row by row' : 'by index', add),
    `(d.seq + 0, d.ordinal) < ${point(range.below)}`,
    ...(range.downTo ? [`(d.seq + 0, d.ordinal) >= ${point(range.downTo)}`] : []),
  ].join(' and ')
  const each = tablesOf(pieces).map(({ name, isOfPieces }) => {
    const all = isOfPieces === undefined ? conditions : `${conditions} and ${isOfPieces}`
    return `select d.trace_id, d.incarnation, d.ordinal, d.place, d.seq from ${name} d where ${all}`
  })
  return each.join('\n union all ')
}

/** The statement that proposes rows of some pieces; the newest segment is always asked alone. */
const statementOf = (pieces: readonly Piece[], wanted: IndexQuery, range: Range, limit: number) => {
  const isNewest = pieces[0]!.segment === wanted.segments[0]
  const values: unknown[] = []
  const found = rowsOf(pieces, wanted, range, isNewest, (value) => `$${values.push(value)}`)
  const numbered = `select *, row_number() over (partition by trace_id order by seq desc, ordinal desc) as nth from (${found}) d`
  const proposed = wanted.isExact ? `select * from (${numbered}) d where nth <= ${MOST_OF_A_TRACE}` : found
  return { text: `${proposed} order by seq desc, ordinal desc limit ${limit}`, values }
}

/** The limit of rows of the first statement, which is enough for a frequent word. It is doubled while the same pieces have more rows. */
const FIRST_LIMIT = 300
/** The highest limit of rows of a statement. */
const MOST_LIMIT = 2_000

/**
 * A query counts as frequent if the pieces asked by a statement have 100 matching rows, or 6 for each trace that matches: then the next statement
 * asks as many pieces as the last one. Matches of a rare query may be in any piece, so the next statement asks four times as many.
 */
const FREQUENT = { rows: 100, rowsOfEachTrace: 6 }
const MOST_PIECES = 64

/** What a statement proposes, and the point down to which all rows have been considered. */
type Proposed = { readonly proposed: readonly Candidate[]; readonly end: Point }

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
  const pieces = piecesIn(wanted.segments, range)
  let { below } = range
  let remaining = most
  // The pieces that the next statement asks: the index of the first of them, and how many.
  let firstPiece = 0
  let pieceCount = 1
  // The limit of the next statement, the rows that these pieces had so far, and the traces of these rows.
  let rowLimit = FIRST_LIMIT
  let rowCount = 0
  const traces = new Set<string>()
  while (firstPiece < pieces.length && remaining > 0) {
    const asked = pieces.slice(firstPiece, firstPiece + pieceCount)
    const limit = Math.min(rowLimit, remaining)
    const { text, values } = statementOf(asked, wanted, { ...range, below }, limit)
    const found = await readRows<Row>('', text, values)
    remaining -= found.length
    rowCount += found.length
    for (const { trace_id: id } of found) traces.add(id)
    const hasMore = found.length === limit
    below = hasMore ? found.at(-1)! : { seq: asked.at(-1)!.from, ordinal: TRACE_ITSELF }
    yield { proposed: found.map(({ trace_id: traceId, ...row }) => ({ traceId, ...row })), end: below }
    if (hasMore) {
      rowLimit = Math.min(rowLimit * 2, MOST_LIMIT)
      continue
    }
    const isFrequent = rowCount >= FREQUENT.rows || (rowCount > 0 && rowCount >= FREQUENT.rowsOfEachTrace * traces.size)
    if (!isFrequent) pieceCount = Math.min(firstPiece === 0 ? 2 : pieceCount * 4, MOST_PIECES)
    firstPiece += asked.length
    rowCount = 0
    rowLimit = FIRST_LIMIT
    traces.clear()
  }
}
