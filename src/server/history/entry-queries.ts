import type { TraceEvent } from '../trace/events.ts'
import type { NamespaceEvent } from '../namespace/events.ts'
import { MESSAGES_UPSERTED, type TimelineTables } from '../../tables/timeline.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { pageRows } from '../http/list-page.ts'
import { texts } from '../../eventstore/postgres/arrays.ts'
import type { TimelineReads } from './timeline-reads.ts'

type OfMessages = 'MessageAdded' | 'MessageUpdated' | 'MessagesCounted' | 'MessageRestated'
/** Before there is a trace. */
type OfNoTrace = 'TraceArriving'

/** The type of an entry: that of an event, or the one for all messages of a request. Each is an `EntryType` of the contract. */
export type EventType =
  Exclude<TraceEvent['type'], OfMessages | OfNoTrace> | NamespaceEvent['type'] | 'MessagesUpserted'

/** The entries of a timeline: of one incarnation of a trace, or of a namespace. */
export type Scope =
  | { readonly of: 'trace'; readonly id: string; readonly first: bigint; readonly revision: bigint }
  | { readonly of: 'namespace'; readonly id: string; readonly traceId: string | undefined }

/**
 * The keys of the last entry of the previous page: its position and place (for a trace's timeline its revision and 0), and the position
 * where the entries of a span of time end.
 */
export type LastKeys = readonly [position: bigint, place: number, end: bigint | undefined]

export type Filter = {
  readonly order: 'asc' | 'desc'
  readonly types: readonly EventType[] | undefined
  readonly actor: string | undefined
  /** Milliseconds; `from` ≤ at < `to`. */
  readonly from: number | undefined
  readonly to: number | undefined
  readonly after: LastKeys | undefined
  readonly limit: number
}

type Entries = TimelineTables['entries']
export type EntryRow = Omit<Entries, 'type'> & {
  readonly type: EventType
  readonly external_id: string | null
  /** The position where the entries of a span of time end, in the order of the list; null without such an end. */
  readonly span_end: bigint | null
}

const COLUMNS = `e.position, e.place, e.stream_id, e.namespace_id, e.revision, e.at, e.type, e.actor, e.request_id,
  e.added, e.updated, case when e.type <> '${MESSAGES_UPSERTED}' then e.data end as data,
  400 + coalesce(octet_length(e.data::text), 0) as size`

/** Collects the conditions of a statement, their parameters, and a name for each combination of conditions, by which it is prepared. */
const newConditions = () => {
  const [conditions, values, names]: [string[], unknown[], string[]] = [[], [], []]
  const param = (value: unknown) => `$${values.push(value)}`
  const add = (name: string, condition: string) => {
    names.push(name)
    conditions.push(condition)
  }
  return { param, add, values, text: () => conditions.join(' and '), name: () => names.join('-') }
}

type Conditions = ReturnType<typeof newConditions>

const addFilter = ({ param, add }: Conditions, { types, actor, from, to }: Filter) => {
  if (types && !types.includes(MESSAGES_UPSERTED)) add('own', `e.type <> '${MESSAGES_UPSERTED}'`)
  if (types) add('types', `e.type = any(${param(texts(types))}::text[])`)
  if (actor !== undefined) add('actor', `e.actor = ${param(actor)}::text`)
  // The sum keeps the planner from using an index: entries of a span of time are found by their positions.
  if (from !== undefined) add('from', `e.at + 0 >= ${param(from)}::int8`)
  if (to !== undefined) add('to', `e.at + 0 < ${param(to)}::int8`)
}

const ofTrace = (scope: Extract<Scope, { of: 'trace' }>, filter: Filter): [Conditions, string, SpanEnd] => {
  const conditions = newConditions()
  const { param, add } = conditions
  const { id, first, revision } = scope
  add('trace', `e.stream_id = ${param(id)}::uuid`)
  add('life', `e.revision between ${param(first)}::int8 and ${param(revision)}::int8`)
  // The deletion of an earlier incarnation has a lower revision; this incarnation's own deletion makes the trace unreachable.
  addFilter(conditions, filter)
  const [compare, order] = filter.order === 'asc' ? ['>', 'revision'] : ['<', 'revision desc']
  if (filter.after) add(`after-${filter.order}`, `e.revision ${compare} ${param(filter.after[0])}::int8`)
  return [conditions, order, NO_END]
}

/** SQL for the position where the entries of a span of time end, and for its `with` clause. */
type SpanEnd = { readonly with: string; readonly end: string }

const NO_END: SpanEnd = { with: '', end: 'null::int8' }

/**
 * The condition for the positions of entries in a span of time. Times nearly always grow with positions, but not always. The
 * list stays in the order of positions: its first page looks up where the span begins and ends, later pages use that end.
 */
const addSpan = ({ param, add }: Conditions, namespaceId: string, filter: Filter): SpanEnd => {
  const { from, to, actor, after } = filter
  const isAscending = filter.order === 'asc'
  const [begins, ends] = isAscending ? (['min', 'max'] as const) : (['max', 'min'] as const)
  const [near, far] = isAscending ? [from, to] : [to, from]
  // Only one index can answer this, because a sum has none: so the span is read, and not the positions from one end. Entries of
  // a namespace with the same hash can only widen the bounds.
  const bound = (which: 'min' | 'max') => `(
    select ${which}(s.position + 0) as position from entries s where uuid_hash(s.namespace_id) = uuid_hash(${param(namespaceId)}::uuid)
      ${from === undefined ? '' : `and s.at >= ${param(from)}::int8`} ${to === undefined ? '' : `and s.at < ${param(to)}::int8`}
  )`
  // Without the namespace in the condition, the planner may read the positions of all namespaces.
  const isBeyond = (compare: '<=' | '>=', position: string) =>
    actor === undefined
      ? `(e.namespace_id, e.position) ${compare} (${param(namespaceId)}::uuid, ${position})`
      : `e.position ${compare} ${position}`
  if (near !== undefined && !after) add('begin', isBeyond(isAscending ? '>=' : '<=', bound(begins)))
  if (far === undefined) return NO_END
  const known = after?.[2]
  const end = known === undefined ? '(select position from span_end)' : `${param(known)}::int8`
  add(known === undefined ? 'end' : 'known-end', isBeyond(isAscending ? '<=' : '>=', end))
  return { with: known === undefined ? `with span_end as materialized ${bound(ends)}` : '', end }
}

const ofNamespace = (
  scope: Extract<Scope, { of: 'namespace' }>,
  filter: Filter,
  mainSchema: string,
): [Conditions, string, SpanEnd] => {
  const conditions = newConditions()
  const { param, add } = conditions
  add('namespace', `e.namespace_id = ${param(scope.id)}::uuid`)
  if (scope.traceId !== undefined) add('one', `e.stream_id = ${param(scope.traceId)}::uuid`)
  // Entries are shown only as far as the main read models show them: of a deleted trace only its deletions. The entries that an erasure of
  // the past has left have the revision of the erasure as `through`.
  add('shown', `e.position <= (select position from ${mainSchema}.reached)`)
  add('there', `(e.stream_id = e.namespace_id or e.type = 'TraceDeleted' or e.through >= t.first)`)
  addFilter(conditions, filter)
  const isAscending = filter.order === 'asc'
  if (filter.after) {
    const [position, place] = filter.after
    const keys = `(${param(position)}::int8, ${param(place)}::int4)`
    add(`after-${filter.order}`, `(e.position, e.place) ${isAscending ? '>' : '<'} ${keys}`)
  }
  const end = addSpan(conditions, scope.id, filter)
  return [conditions, isAscending ? 'position, place' : 'position desc, place desc', end]
}

/** A page of entries that fit into one answer, and one entry more if there is a next page. */
export const listEntries = (timeline: TimelineReads, scope: Scope, filter: Filter): Promise<EntryRow[]> => {
  const isTrace = scope.of === 'trace'
  const [conditions, order, span] = isTrace ? ofTrace(scope, filter) : ofNamespace(scope, filter, timeline.mainSchema)
  const limit = conditions.param(filter.limit + 1)
  const ordered = order.replaceAll(/(position|place|revision)/g, 'e.$1')
  // Each trace is looked up by its key: in a plain join the planner may read all of them.
  const traces = isTrace
    ? 'cross join (select null::text as external_id) t'
    : `left join lateral (
         select r.external_id, coalesce(r.erased, r.incarnation) as first from ${timeline.mainSchema}.traces r where r.id = e.stream_id limit 1
       ) t on true`
  const rows = `
    ${span.with}
    select ${COLUMNS}, t.external_id, ${span.end} as span_end from entries e ${traces}
    where ${conditions.text()} order by ${ordered} limit ${limit}::int4`
  const name = `timeline-${conditions.name()}-${filter.order}`
  return timeline.rows<EntryRow & Row>(name, pageRows(rows, order), conditions.values)
}
