import { TRACE_ITSELF, segmentName } from '../../projections/search/tables.ts'
import { int4s, uuids } from '../postgres/arrays.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import type { Point } from './cursor.ts'
import { type Access, type Needed, conditionOf, excludedBy, neededBy } from './plan.ts'
import type { Query } from './query.ts'
import type { ReadRows } from './reads.ts'

/** A row that the index proposes. */
export type Candidate = Point & {
  readonly traceId: string
  /** The incarnation of the trace when the row was written. */
  readonly incarnation: bigint
  /** The best place of its texts, as `allPlaces` has them in order. */
  readonly place: number
}

/** The most rows of one trace that are proposed and counted as hits, so that a frequent word shows other traces too. */
export const MOST_OF_A_TRACE = 12

/** A query to the index. */
export type IndexQuery = {
  readonly query: Query
  /** The namespaces whose traces are looked at, besides those that are public. */
  readonly namespaces: readonly string[]
  /** The first position of each segment of the index, the newest first. */
  readonly segments: readonly bigint[]
  readonly hashOf: HashOf
  /** Whether the index alone can answer the query. Then of each trace only the newest rows are proposed. */
  readonly isExact: boolean
}

/**
 * The rows to be proposed: below one point, down to another one, of these traces only, and not of the traces in `except`, to which the
 * caller may add while the rows are read.
 */
export type Range = {
  readonly below: Point
  readonly downTo?: Point | undefined
  readonly traces?: readonly string[]
  readonly except?: ReadonlySet<string>
}

type Row = { trace_id: string; incarnation: bigint; ordinal: number; seq: bigint; place: number }

/** Adds a parameter of a statement, and returns its name in SQL. */
type Add = (value: unknown) => string

/** SQL that says whether the row `d` matches a query, may be visible to its caller, and is of the traces of a range. */
const conditionsOf = ({ query, namespaces, hashOf }: IndexQuery, range: Range, access: Access, add: Add): string => {
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
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(range.except?.size ? [`d.trace_id <> all(${add(uuids([...range.except]))}::uuid[])`] : []),
    ...(query.from === undefined ? [] : [`d.at >= ${add(query.from)}::int8`]),
    ...(query.to === undefined ? [] : [`d.at <= ${add(query.to)}::int8`]),
  ].join(' and ')
}

/**
 * SQL for the matching rows of some segments. The newest segment has no index of hashes: all its rows are read, as they lie in the table,
 * and each is compared. In the others only the index of hashes is used: because of the `+ 0`, PostgreSQL does not use the key of the table.
 */
const rowsOf = (segments: readonly bigint[], wanted: IndexQuery, range: Range, isNewest: boolean, add: Add): string => {
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const conditions = [
    ...(isNewest ? [`d.ctid >= '(0,0)'`] : []),
    conditionsOf(wanted, range, isNewest ? 'row by row' : 'by index', add),
    `(d.seq + 0, d.ordinal) < ${point(range.below)}`,
    ...(range.downTo ? [`(d.seq + 0, d.ordinal) >= ${point(range.downTo)}`] : []),
  ].join(' and ')
  const each = segments.map(
    (start) =>
      `select d.trace_id, d.incarnation, d.ordinal, d.place, d.seq from ${segmentName(start)} d where ${conditions}`,
  )
  return each.join('\n union all ')
}

/** The statement that proposes rows of some segments; the newest segment is always asked alone. */
const statementOf = (segments: readonly bigint[], wanted: IndexQuery, range: Range, limit: number) => {
  const isNewest = segments[0] === wanted.segments[0]
  const values: unknown[] = []
  const found = rowsOf(segments, wanted, range, isNewest, (value) => `$${values.push(value)}`)
  const numbered = `select *, row_number() over (partition by trace_id order by seq desc, ordinal desc) as nth from (${found}) d`
  const proposed = wanted.isExact ? `select * from (${numbered}) d where nth <= ${MOST_OF_A_TRACE}` : found
  return { text: `${proposed} order by seq desc, ordinal desc limit ${limit}`, values }
}

/** The limit of the first statement, which is enough for a frequent word. It is doubled while the same segments have more. */
const FIRST_LIMIT = 300
/** The limit that no statement exceeds. */
const MOST_LIMIT = 2_000

/**
 * A word of which some segments have 100 rows, or 6 rows for each trace that has it, counts as frequent: then the next statement asks as many
 * segments as the last one. For a rare word, which may be in any segment, it asks four times as many.
 */
const FREQUENT = { rows: 100, rowsOfEachTrace: 6 }
const MOST_SEGMENTS = 64

/** The segments that have rows of a range, the newest first. */
const segmentsIn = (segments: readonly bigint[], { below, downTo }: Range): readonly bigint[] =>
  segments.filter((start, i) => {
    const end = segments[i - 1] // the next newer segment begins where this one ends
    return start <= below.seq && !(downTo && end !== undefined && end <= downTo.seq)
  })

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
  const segments = segmentsIn(wanted.segments, range)
  let { below } = range
  let remaining = most
  let [next, count] = [0, 1] // the segments of a statement: the first of them, and how many
  let [size, seen] = [FIRST_LIMIT, 0] // its limit, and the rows that these segments had so far
  const traces = new Set<string>()
  while (next < segments.length && remaining > 0) {
    const asked = segments.slice(next, next + count)
    const limit = Math.min(size, remaining)
    const { text, values } = statementOf(asked, wanted, { ...range, below }, limit)
    const found = await readRows<Row>('', text, values)
    remaining -= found.length
    seen += found.length
    for (const { trace_id: id } of found) traces.add(id)
    const isCut = found.length === limit
    below = isCut ? found.at(-1)! : { seq: asked.at(-1)!, ordinal: TRACE_ITSELF }
    yield { proposed: found.map(({ trace_id: traceId, ...row }) => ({ traceId, ...row })), end: below }
    if (isCut) {
      size = Math.min(size * 2, MOST_LIMIT)
      continue
    }
    const isFrequent = seen >= FREQUENT.rows || (seen > 0 && seen >= FREQUENT.rowsOfEachTrace * traces.size)
    if (!isFrequent) count = Math.min(next === 0 ? 2 : count * 4, MOST_SEGMENTS)
    next += asked.length
    seen = 0
    size = FIRST_LIMIT
    traces.clear()
  }
}
