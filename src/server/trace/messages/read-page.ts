import type { ReadTables } from '../../../tables/main.ts'
import type { Reads, Row } from '../../../eventstore/engine/reads.ts'
import { notFound } from '../../http/http-error.ts'
import { assertMayRead } from '../policy.ts'
import { type NamedBy, type ResolvedTrace, type ResolvedRow, resolveStatement, resolvedOf } from '../queries.ts'
import {
  ALL_MESSAGES,
  BEFORE_ALL,
  type Keys,
  type MessageListRow,
  columns,
  listed,
  sizeShown,
  withParts,
} from './queries.ts'
import { columnsOfParts } from './stored-parts.ts'

/** Which messages of a trace to read. */
export type PageToRead = {
  /** Which trace, and for whom. */
  readonly named: NamedBy
  /** Only of this incarnation of the trace. Default: the present one. */
  readonly incarnation?: bigint | undefined
  readonly includeParts: boolean
  /** Only messages that have changed since this revision of the trace. */
  readonly changedSince?: bigint | undefined
  /** The maximum number of messages. Default: all. */
  readonly limit?: number | undefined
  /** Only messages after these keys. */
  readonly after?: Keys | undefined
}

/** The trace of a page. */
export type PageTrace = ResolvedTrace & {
  readonly incarnation: bigint
  readonly revision: bigint
  /** About how many characters its messages have. */
  readonly bytes: number
}

/** Messages of one snapshot, in the order of their list. */
type MessagePage = {
  readonly trace: PageTrace
  readonly rows: readonly MessageListRow[]
  /** The ordinals of the wanted messages after `rows`, which would make the page too large; undefined if there are none. */
  readonly rest: Int32Array | undefined
}

type PageRow = MessageListRow & { readonly trace: string | null }
type TraceJson = Pick<ResolvedRow, 'id' | 'namespace_id' | 'created_by' | 'visibility' | 'role'> & {
  readonly incarnation: string
  readonly revision: string
  readonly bytes: string
  readonly rest: string | null
}

/** The smallest size of a message. */
const LEAST = 500

/** SQL for the columns of a message that are read before it is known whether the message is shown: whole rows would cost twice as much. */
const rowOf = (includeParts: boolean) =>
  `${columns} ${includeParts ? `, ${columnsOfParts}` : ''}, (${sizeShown(includeParts)})::int4 as size`

// If the past was erased after that revision, all messages count as changed.
const since = 'case when $11 < t.erased then -1 else $11 end'

// No message is read if the caller may not read the trace. At most $5 messages are listed; of these the first with at most $10 characters
// together are shown, and of the rest the ordinals. `string_agg` joins them in the order of the subquery. The first row also has the trace.
export const pageStatement = ({
  includeParts,
  isOfChanges,
}: {
  includeParts: boolean
  isOfChanges: boolean
}): string => `
  with named as (${resolveStatement}), t as materialized (
    select n.*, t.incarnation, t.revision, t.bytes ${isOfChanges ? `, ${since} as since` : ''} from named n
    cross join lateral (select * from traces r where r.id = n.id and r.incarnation = coalesce($9, r.incarnation) limit 1) t
  ), shown as materialized (
    select m.*, sum(m.size) over (rows unbounded preceding) as through
    from t cross join lateral (${listed(rowOf(includeParts), isOfChanges, `least($5, $10 / ${LEAST} + 1)`)}) m
    where t.visibility = 'public' or t.role is not null
  )
  select ${columns} ${includeParts ? withParts : ''}, case when m.size is null or m.through = m.size then json_build_object(
    'id', t.id, 'namespace_id', t.namespace_id, 'created_by', t.created_by, 'visibility', t.visibility, 'role', t.role,
    'incarnation', t.incarnation::text, 'revision', t.revision::text, 'bytes', t.bytes::text,
    'rest', case when exists (select from shown where through > $10)
      then (select string_agg(l.ordinal::text, ',') from (${listed('m.ordinal', isOfChanges, '$5')}) l) end) end as trace
  from t left join shown m on m.through <= $10 order by m.through`

/** The parameters of `pageStatement`. */
export const pageValues = (
  { named, limit = ALL_MESSAGES, after = BEFORE_ALL, incarnation, changedSince }: Omit<PageToRead, 'includeParts'>,
  most: number,
): unknown[] => [
  ...named,
  limit,
  ...after,
  incarnation ?? null,
  most,
  ...(changedSince === undefined ? [] : [changedSince]),
]

/**
 * A page of messages, for a caller who may read them: at most `most` characters.
 * @throws 404 if the trace does not exist, or the caller may not read it; Rejected unauthorized; InQuarantine
 */
export const readPage = async (
  reads: Pick<Reads<ReadTables>, 'rows' | 'assertNotQuarantined'>,
  wanted: PageToRead,
  most: number,
): Promise<MessagePage> => {
  const { includeParts, named, changedSince } = wanted
  if (named[0]) reads.assertNotQuarantined(`trace-${named[0]}`)
  const isOfChanges = changedSince !== undefined
  const name = `messages${isOfChanges ? '-changed-since' : ''}${includeParts ? '-parts' : ''}`
  const text = pageStatement({ includeParts, isOfChanges })
  const rows = await reads.rows<PageRow & Row>(name, text, pageValues(wanted, most))
  if (!rows[0]) throw notFound()
  const { incarnation, revision, bytes, rest, ...row } = JSON.parse(rows[0].trace!) as TraceJson
  const resolved = resolvedOf(reads, row)
  assertMayRead(resolved, named[1] === null ? undefined : { userId: named[1], role: resolved.role })
  if ((rows[0].ordinal as number | null) === null) rows.length = 0
  return {
    trace: { ...resolved, incarnation: BigInt(incarnation), revision: BigInt(revision), bytes: Number(bytes) },
    rows,
    rest: rest === null ? undefined : Int32Array.from(rest.split(','), Number).subarray(rows.length),
  }
}
