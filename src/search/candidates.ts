import { TRACE_ITSELF, segmentName } from '../../projections/search/tables.ts'
import type { Visibility } from '../contract/trace.ts'
import type { Role } from '../contract/namespaces.ts'
import { int4s, uuids } from '../postgres/arrays.ts'
import { filterToken } from '../trace/tokens/filter-tokens.ts'
import type { HashOf } from '../trace/tokens/hashes.ts'
import { mayRead } from '../trace/policy.ts'
import type { Point } from './cursor.ts'
import { type Access, conditionOf, neededBy } from './plan.ts'
import type { Query } from './query.ts'
import type { ReadRows } from './reads.ts'

/** A row that the index proposes, of a trace that the caller may read. */
export type Candidate = Point & { readonly traceId: string }

/** A query to the index, with the rights of its caller: the namespaces of which the user is a member; public traces are always included. */
export type IndexQuery = {
  readonly query: Query
  readonly userId: string | undefined
  readonly namespaces: readonly string[]
  /** The first position of each segment of the index, the newest first. */
  readonly segments: readonly bigint[]
  readonly hashOf: HashOf
  /** The most rows of one trace that a statement may propose. Undefined unless the index alone can answer the query (`isExact`). */
  readonly mostOfTrace?: number | undefined
}

/**
 * The rows to be proposed: below one point, down to another one, of these traces only, and not of the traces in `without`, to which the
 * caller may add while the rows are read.
 */
export type Range = {
  readonly below: Point
  readonly downTo?: Point | undefined
  readonly traces?: readonly string[]
  readonly without?: ReadonlySet<string>
}

type Row = {
  trace_id: string
  ordinal: number
  seq: bigint
  nth: number
  visibility: Visibility | null
  role: Role | null
}

/** Adds a parameter of a statement, and returns its name in SQL. */
type Add = (value: unknown) => string

/** SQL that says whether the row `d` matches a query, may be visible to its caller, and is of the traces of a range. */
const conditionsOf = ({ query, namespaces, hashOf }: IndexQuery, range: Range, access: Access, add: Add): string => {
  const visible = [filterToken('is', 'public'), ...namespaces.map((id) => filterToken('namespace', id))]
  return [
    conditionOf(neededBy(query), hashOf, access, add),
    `d.of_trace && ${add(int4s(visible.map(hashOf)))}::int4[]`,
    ...(range.traces ? [`d.trace_id = any(${add(uuids(range.traces))}::uuid[])`] : []),
    ...(range.without?.size ? [`d.trace_id <> all(${add(uuids([...range.without]))}::uuid[])`] : []),
    ...(query.from === undefined ? [] : [`d.at >= ${add(query.from)}::int8`]),
    ...(query.to === undefined ? [] : [`d.at <= ${add(query.to)}::int8`]),
  ].join(' and ')
}

/**
 * SQL for the matching rows of some segments. The newest segment has no index of hashes: its rows are read in their order, and each is
 * compared. In the others only the index of hashes is used: because of the `+ 0`, PostgreSQL does not use the index of places.
 */
const rowsOf = (segments: readonly bigint[], wanted: IndexQuery, range: Range, isNewest: boolean, add: Add): string => {
  const point = ({ seq, ordinal }: Point) => `(${add(seq)}::int8, ${add(ordinal)}::int4)`
  const below = point(range.below)
  const downTo = range.downTo && point(range.downTo)
  const between = (place: string) => [`${place} < ${below}`, ...(downTo ? [`${place} >= ${downTo}`] : [])].join(' and ')
  const conditions = conditionsOf(wanted, range, isNewest ? 'row by row' : 'by index', add)
  const columns = 'd.trace_id, d.incarnation, d.ordinal, d.seq'
  const each = segments.map((start) =>
    isNewest
      ? `select ${columns} from (
          select * from ${segmentName(start)} d where ${between('(d.seq, d.ordinal)')} order by d.seq desc, d.ordinal desc offset 0
        ) d where ${conditions}`
      : `select ${columns} from ${segmentName(start)} d where ${conditions} and ${between('(d.seq + 0, d.ordinal)')}`,
  )
  return each.join('\n union all ')
}

/** The statement that proposes rows of some segments; the newest segment is always asked alone. */
const statementOf = (segments: readonly bigint[], wanted: IndexQuery, range: Range, limit: number) => {
  const { userId, mostOfTrace } = wanted
  const isNewest = segments[0] === wanted.segments[0]
  const values: unknown[] = [userId ?? null]
  const found = rowsOf(segments, wanted, range, isNewest, (value) => `$${values.push(value)}`)
  const last = `order by seq desc, ordinal desc limit ${limit}`
  const numbered = (rows: string) =>
    `select *, row_number() over (partition by trace_id order by seq desc, ordinal desc) as nth from (${rows}) d`
  const proposed =
    isNewest || mostOfTrace === undefined
      ? numbered(`${found} ${last}`)
      : `select * from (${numbered(found)}) d where nth <= ${mostOfTrace} ${last}`
  const text = `
    select d.trace_id, d.ordinal, d.seq, d.nth::int4, t.visibility, m.role from (${proposed}) d
    left join lateral (
      select r.visibility, r.namespace_id from traces r where r.id = d.trace_id and r.incarnation = d.incarnation limit 1
    ) t on ${mostOfTrace === undefined ? 'true' : `d.nth <= ${mostOfTrace}`}
    left join lateral (
      select r.role from members r where r.namespace_id = t.namespace_id and r.user_id = $1::uuid limit 1
    ) m on true
    order by d.seq desc, d.ordinal desc`
  return { text, values }
}

/** The limit of the first statement, which is enough for a frequent word. It is doubled for each further one. */
const FIRST_SEEN = 250
/** The limit of the first statement of an exact query, of whose rows only a few of each trace count. */
const FIRST_EXACT = 1_000
/** The limit that no statement exceeds. */
const MOST_SEEN = 2_000

/** A rare word may be in any segment: after the newest one, this many segments are asked at once, then four times as many, and so on. */
const FIRST_ASKED = 2
const MOST_ASKED = 64

/** The segments that have rows of a range, the newest first. */
const segmentsIn = (segments: readonly bigint[], { below, downTo }: Range): readonly bigint[] =>
  segments.filter((start, i) => {
    const end = segments[i - 1] // the next newer segment begins where this one ends
    return start <= below.seq && !(downTo && end !== undefined && end <= downTo.seq)
  })

/** What a statement proposes: rows that the caller may read, and the point down to which all rows have been considered. */
type Proposed = { readonly readable: readonly Candidate[]; readonly end: Point }

const mayBeRead = ({ visibility, role }: Row): boolean =>
  visibility !== null && mayRead({ visibility }, { role: role ?? undefined })

/** Yields the rows that the index proposes, the newest first; some of them may not match the query. @param most proposals of all statements together */
export async function* candidates(
  rows: ReadRows,
  wanted: IndexQuery,
  range: Range,
  most: number,
): AsyncGenerator<Proposed> {
  const segments = segmentsIn(wanted.segments, range)
  const mostOfTrace = wanted.mostOfTrace ?? Infinity
  const isExact = wanted.mostOfTrace !== undefined
  let [left, size, at, count, below] = [most, isExact ? FIRST_EXACT : FIRST_SEEN, 0, 1, range.below]
  while (at < segments.length && left > 0) {
    const asked = segments.slice(at, at + count)
    const limit = isExact ? size : Math.min(size, left)
    const { text, values } = statementOf(asked, wanted, { ...range, below }, limit)
    const found = await rows<Row>('', text, values)
    left -= found.filter(({ nth }) => nth <= mostOfTrace).length
    const isCut = found.length === limit
    below = isCut ? found.at(-1)! : { seq: asked.at(-1)!, ordinal: TRACE_ITSELF }
    const readable = found.filter(mayBeRead)
    yield { readable: readable.map(({ trace_id: traceId, ordinal, seq }) => ({ traceId, ordinal, seq })), end: below }
    if (isCut) {
      size = Math.min(size * 2, MOST_SEEN)
      continue
    }
    at += count
    ;[count, size] = [count === 1 ? FIRST_ASKED : Math.min(count * 4, MOST_ASKED), FIRST_SEEN]
  }
}
