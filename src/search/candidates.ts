import { segmentName } from '../../projections/search/tables.ts'
import type { Visibility } from '../contract/trace.ts'
import type { Role } from '../contract/namespaces.ts'
import { int4s, uuids } from '../postgres/arrays.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import { mayRead } from '../trace/policy.ts'
import type { Point } from './cursor.ts'
import { conditionOf, neededBy } from './plan.ts'
import type { Query } from './query.ts'
import type { ReadRows } from './reads.ts'

/** A row that the index proposes, of a trace that the caller may read. */
export type Candidate = Point & { readonly traceId: string }

/** What is looked for in the index, by whom: in namespaces of which the user is a member, and in what is public. */
export type Wanted = {
  readonly query: Query
  readonly userId: string | undefined
  readonly namespaces: readonly string[]
  /** Where the segments of the index begin, the newest first. */
  readonly segments: readonly bigint[]
  readonly hashOf: HashOf
}

/** Which rows: below one point, and down to another one; of some traces only. */
export type Range = { readonly below: Point; readonly downTo?: Point | undefined; readonly traces?: readonly string[] }

type Row = { trace_id: string; ordinal: number; seq: bigint; visibility: Visibility | null; role: Role | null }

/** So many rows of a segment are proposed at once. */
export const MOST_PROPOSED = 2_000

const statementOf = (segment: string, wanted: Wanted, range: Range, limit: number) => {
  const { query, userId, namespaces, hashOf } = wanted
  const visible = [filterToken('is', 'public'), ...namespaces.map((id) => filterToken('namespace', id))]
  const values: unknown[] = [userId ?? null, int4s(visible.map(hashOf))]
  const add = (value: unknown) => `$${values.push(value)}`
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const conditions = [
    conditionOf(neededBy(query), hashOf, values),
    'd.of_trace && $2::int4[]',
    `(d.seq, d.ordinal) < ${point(range.below)}`,
    ...(range.downTo ? [`(d.seq, d.ordinal) >= ${point(range.downTo)}`] : []),
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(query.from === undefined ? [] : [`d.at >= ${add(query.from)}::int8`]),
    ...(query.to === undefined ? [] : [`d.at <= ${add(query.to)}::int8`]),
  ]
  const text = `
    select d.trace_id, d.ordinal, d.seq, t.visibility, m.role from (
      select d.trace_id, d.incarnation, d.ordinal, d.seq from ${segment} d where ${conditions.join(' and ')}
      order by d.seq desc, d.ordinal desc limit ${limit}
    ) d
    left join lateral (
      select r.visibility, r.namespace_id from traces r where r.id = d.trace_id and r.incarnation = d.incarnation limit 1
    ) t on true
    left join lateral (
      select r.role from members r where r.namespace_id = t.namespace_id and r.user_id = $1::uuid limit 1
    ) m on true
    order by d.seq desc, d.ordinal desc`
  return { text, values }
}

/**
 * What the index proposes, newest first, a list for each statement; some of it may not be what was looked for. `all` are the rows that
 * were seen, also those that the caller may not read. @param most proposals of all statements together
 */
export async function* candidates(
  rows: ReadRows,
  wanted: Wanted,
  range: Range,
  most: number,
): AsyncGenerator<{ readonly readable: readonly Candidate[]; readonly all: readonly Point[] }> {
  const { segments } = wanted
  let left = most
  for (const [i, start] of segments.entries()) {
    const next = segments[i - 1] // the one before in this order has the rows from there on
    if (start > range.below.seq || left <= 0) continue
    if (range.downTo && next !== undefined && next <= range.downTo.seq) break
    const { text, values } = statementOf(segmentName(start), wanted, range, Math.min(left, MOST_PROPOSED))
    const found = await rows<Row>('', text, values)
    left -= found.length
    const readable = found.filter(
      (row) => row.visibility !== null && mayRead({ visibility: row.visibility }, { role: row.role ?? undefined }),
    )
    yield {
      readable: readable.map(({ trace_id: traceId, ordinal, seq }) => ({ traceId, ordinal, seq })),
      all: found,
    }
  }
}
