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

/** Which rows: below one point, and down to another one; of some traces only, or without those that are in a set by then. */
export type Range = {
  readonly below: Point
  readonly downTo?: Point | undefined
  readonly traces?: readonly string[]
  readonly without?: ReadonlySet<string>
}

type Row = { trace_id: string; ordinal: number; seq: bigint; visibility: Visibility | null; role: Role | null }

/**
 * The newest segment has no index of hashes: its rows are looked at in the order in which they are wanted. Of the others only the index of
 * hashes is used: with `+ 0` no index has the place.
 */
const statementOf = (segments: readonly bigint[], wanted: Wanted, range: Range, limit: number) => {
  const { query, userId, namespaces, hashOf } = wanted
  const visible = [filterToken('is', 'public'), ...namespaces.map((id) => filterToken('namespace', id))]
  const values: unknown[] = [userId ?? null, int4s(visible.map(hashOf))]
  const add = (value: unknown) => `$${values.push(value)}`
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const below = point(range.below)
  const downTo = range.downTo && point(range.downTo)
  const between = (place: string) => [`${place} < ${below}`, ...(downTo ? [`${place} >= ${downTo}`] : [])].join(' and ')
  const conditions = [
    conditionOf(neededBy(query), hashOf, values),
    'd.of_trace && $2::int4[]',
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(range.without?.size ? [`d.trace_id <> all(${add(uuids([...range.without]))}::uuid[])`] : []),
    ...(query.from === undefined ? [] : [`d.at >= ${add(query.from)}::int8`]),
    ...(query.to === undefined ? [] : [`d.at <= ${add(query.to)}::int8`]),
  ].join(' and ')
  const columns = 'd.trace_id, d.incarnation, d.ordinal, d.seq'
  const each = segments.map((start) =>
    start === wanted.segments[0]
      ? `select ${columns} from (
          select * from ${segmentName(start)} d where ${between('(d.seq, d.ordinal)')} order by d.seq desc, d.ordinal desc offset 0
        ) d where ${conditions}`
      : `select ${columns} from ${segmentName(start)} d where ${conditions} and ${between('(d.seq + 0, d.ordinal)')}`,
  )
  const text = `
    select d.trace_id, d.ordinal, d.seq, t.visibility, m.role from (
      ${each.join('\n union all ')}
      order by seq desc, ordinal desc limit ${limit}
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

/** So many rows are proposed at first: a frequent word needs no more. Then twice as many, and so on. */
const FIRST_PROPOSED = 256
export const MOST_PROPOSED = 2_000

/** A rare word may be in any segment: behind the newest one so many are asked at once, then four times as many, and so on. */
const FIRST_ASKED = 2
const MOST_ASKED = 64

/** The segments that have rows of a range, the newest first. */
const segmentsIn = (segments: readonly bigint[], { below, downTo }: Range): readonly bigint[] =>
  segments.filter((start, i) => {
    const end = segments[i - 1] // the one before in this order has the rows from there on
    return start <= below.seq && !(downTo && end !== undefined && end <= downTo.seq)
  })

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
  const segments = segmentsIn(wanted.segments, range)
  let [left, size, at, count, below] = [most, FIRST_PROPOSED, 0, 1, range.below]
  while (at < segments.length && left > 0) {
    const limit = Math.min(left, size)
    const { text, values } = statementOf(segments.slice(at, at + count), wanted, { ...range, below }, limit)
    const found = await rows<Row>('', text, values)
    left -= found.length
    const readable = found.filter(
      (row) => row.visibility !== null && mayRead({ visibility: row.visibility }, { role: row.role ?? undefined }),
    )
    yield {
      readable: readable.map(({ trace_id: traceId, ordinal, seq }) => ({ traceId, ordinal, seq })),
      all: found,
    }
    if (found.length === limit) {
      below = found.at(-1)!
      size = Math.min(size * 2, MOST_PROPOSED)
      continue
    }
    at += count
    count = at === 1 ? FIRST_ASKED : Math.min(count * 4, MOST_ASKED)
  }
}
