import { type Segment, TRACE_ITSELF, segmentName } from '../../tables/search.ts'
import { int4s, uuids } from '../../eventstore/postgres/arrays.ts'
import { MOST_AHEAD_MS } from '../../base/time-ahead.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import type { Point } from './cursor.ts'
import type { Table } from './pieces.ts'
import { type Access, type Needed, conditionOf, excludedBy, neededBy } from './plan.ts'
import type { Query } from './query.ts'

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

/** What a statement proposes. */
export type Row = { trace_id: string; incarnation: bigint; ordinal: number; seq: bigint; place: number }

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

/** SQL for what the index of hashes can tell of the row `d`: whether it has what a query needs, and may be visible to its caller. */
const indexedConditions = ({ query, namespaces, hashOf }: IndexQuery, access: Access, add: Add): string[] => {
  const visible = [filterToken('is', 'public'), ...namespaces.map((id) => filterToken('namespace', id))].map(hashOf)
  return [
    conditionOf(neededBy(query), hashOf, access, add),
    access === 'by index'
      ? `d.of_trace && ${add(int4s(visible))}::int4[]`
      : `(${visible.map((hash) => `${add(hash)}::int4 = any(d.of_trace)`).join(' or ')})`,
  ]
}

/** SQL that says whether the row `d` matches a query, may be visible to its caller, and belongs to the traces of a range. */
const conditionsOf = (wanted: IndexQuery, range: Range, access: Access, add: Add): string => {
  const { query, hashOf, portions } = wanted
  const isExcluded = (excluded: Needed) => conditionOf(excluded, hashOf, 'row by row', add)
  return [
    ...indexedConditions(wanted, access, add),
    ...excludedBy(query).map((excluded) => `not (${isExcluded(excluded)})`),
    `d.late <= ${add(portions)}::int4`,
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(range.except?.size ? [`d.trace_id <> all(${add(uuids([...range.except]))}::uuid[])`] : []),
    ...inTime(query, add),
  ].join(' and ')
}

/**
 * SQL for the matching rows of some tables. The newest segment has no index of hashes: all its rows are read, as they lie in the table,
 * and each is compared. In the others only the index of hashes is used: because of the `+ 0`, PostgreSQL does not use the key of the table.
 */
const rowsOf = (tables: readonly Table[], wanted: IndexQuery, range: Range, add: Add): string => {
  const isNewest = tables[0]!.name === segmentName(wanted.segments[0]!)
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const conditions = [
    ...(isNewest ? [`d.ctid >= '(0,0)'`] : []),
    conditionsOf(wanted, range, isNewest ? 'row by row' : 'by index', add),
    `(d.seq + 0, d.ordinal) < ${point(range.below)}`,
    ...(range.downTo ? [`(d.seq + 0, d.ordinal) >= ${point(range.downTo)}`] : []),
  ].join(' and ')
  const each = tables.map(({ name, isOfPieces }) => {
    const all = isOfPieces === undefined ? conditions : `${conditions} and ${isOfPieces}`
    return `select d.trace_id, d.incarnation, d.ordinal, d.place, d.seq from ${name} d where ${all}`
  })
  return each.join('\n union all ')
}

export type Statement = { readonly text: string; readonly values: readonly unknown[] }

/** Gives SQL its parameters. */
const withValues = (textOf: (add: Add) => string): Statement => {
  const values: unknown[] = []
  return { text: textOf((value) => `$${values.push(value)}`), values }
}

/** The statement that proposes rows of some tables; the newest segment is always asked alone. */
export const rowsStatement = (tables: readonly Table[], wanted: IndexQuery, range: Range, limit: number): Statement =>
  withValues((add) => {
    const found = rowsOf(tables, wanted, range, add)
    const numbered = `select *, row_number() over (partition by trace_id order by seq desc, ordinal desc) as nth from (${found}) d`
    const proposed = wanted.isExact ? `select * from (${numbered}) d where nth <= ${MOST_OF_A_TRACE}` : found
    return `${proposed} order by seq desc, ordinal desc limit ${limit}`
  })

/** The statement that counts the rows of each of some tables that the index of hashes finds, up to `most`, of any range. */
export const countsStatement = (names: readonly string[], wanted: IndexQuery, most: number): Statement =>
  withValues((add) => {
    const conditions = indexedConditions(wanted, 'by index', add).join(' and ')
    const counts = names.map(
      (name) => `(select count(*) from (select from ${name} d where ${conditions} limit ${most}) d)`,
    )
    return `select array[${counts.join(', ')}]::int4[] as counts`
  })
