import type { FeedTrace } from '../../contract/feed.ts'
import { MOST_AHEAD_MS } from '../../base/time-ahead.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { texts, uuids } from '../../eventstore/postgres/arrays.ts'
import { SLOT_MS, STARTED } from '../../tables/main.ts'
import { type FeedEntry, type FeedRow, type FeedSources, feedColumns, feedTables, toEntries } from '../feed/queries.ts'
import { type ListedTraces, type SessionList, whileMember } from '../feed/session-lists.ts'
import { fitting, pageRows } from '../http/list-page.ts'
import {
  authoredAfter,
  cursorAfterTrace,
  listPlaceOf,
  newestFirst,
  orderValues,
  shownOrder,
  tracesAfter,
} from '../trace/lists.ts'
import { childCount, isRoot } from '../trace/sub-agents.ts'

/** How many sessions one page of a filtered list looks at, sub-agents among them. The next page goes on with older ones. */
export const MOST_LOOKED_AT = 5_000

export type ListSort = 'startedAt' | 'updatedAt'

/** A list that is filtered: all public sessions, the latest upload first, or those of a namespace in an order. */
export type FilteredList =
  | { readonly of: 'everybody' }
  | { readonly of: 'namespace'; readonly id: string; readonly which: ListedTraces; readonly sort: ListSort }

/** The columns of the trace `t` by which lists are filtered, and the types of their values. */
const columns = {
  agent: ['t.agent_id::text', 'text'],
  model: ['t.model::text', 'text'],
  project: ['t.project_name::text', 'text'],
  branch: ['t.git_branch::text', 'text'],
  author: ['t.created_by', 'uuid'],
  namespace: ['t.namespace_id', 'uuid'],
} as const
export type Column = keyof typeof columns
const names = Object.keys(columns) as readonly Column[]

/** Values of a column, as they are stored: it has one of those in `any`, if it is given, and none of those in `none`. */
export type StoredValues = { readonly any: readonly string[] | undefined; readonly none: readonly string[] }

/** What sessions in a filtered list are; what is undefined does not matter. */
export type StoredFilter = {
  readonly columns: ReadonlyMap<Column, StoredValues>
  readonly isPublic: boolean | undefined
  readonly hasError: boolean | undefined
  readonly hasChanges: boolean | undefined
  /** The time by which the list is sorted, of public sessions their start: in milliseconds since 1970, both inclusive. */
  readonly from: number | undefined
  readonly to: number | undefined
}

/** The parameters of all statements, by what they are. Those of columns follow in twos. */
const at = { namespace: '$1', time: '$2', id: '$3', limit: '$4', member: '$5', from: '$6', to: '$7' } as const
const [PUBLIC, ERROR, CHANGES, FIRST_COLUMN] = ['$8', '$9', '$10', 11]

/** Where a list comes from, in SQL. */
type Source = {
  /** The traces after a place, as `tracesAfter`, from `at.from` to `at.to` as far as an index knows their times. */
  readonly from: string
  readonly keys: readonly string[]
  /** The time of the trace `t`. */
  readonly time: string
  /** The order of the rows that are shown. */
  readonly order: string
  readonly reader: 'anybody' | 'member'
  /** What else must hold of the trace `t`. */
  readonly also?: string
}

const FROM = `coalesce(${at.from}::float8, '-infinity')`
const TO = `coalesce(${at.to}::float8, 'infinity')`
const slotOf = (time: string, otherwise: string) => `coalesce(floor(${time}::float8 / ${SLOT_MS}), ${otherwise})::int8`

const byStart = {
  time: `(select ${STARTED} from (select t.started_at, t.created_at) s)`,
  order: shownOrder('startedAt'),
}
const byUpdate = { time: 't.updated_at', order: shownOrder('updatedAt') }
const inTime = {
  startedAt: `${STARTED} between ${FROM} and ${TO}`,
  updatedAt: `updated_slot between ${slotOf(at.from, '0')} and ${slotOf(at.to, '1e12')}`,
} as const

const within = ({ from, keys }: ReturnType<typeof tracesAfter>, sort: ListSort) => ({
  from: `${from} and ${inTime[sort]}`,
  keys,
  ...(sort === 'startedAt' ? byStart : byUpdate),
})

const sources: Readonly<Record<'everybody' | `${ListedTraces['kind']} ${ListSort}`, Source>> = {
  everybody: {
    // A session begins at most so long after it was uploaded.
    from: `feed where visibility = 'public' and (created_at, id) < (${at.time}, ${at.id})
      and created_at >= coalesce(floor(${at.from}::float8) - ${MOST_AHEAD_MS}, 0)::int8`,
    keys: ['created_at', 'id'],
    ...{ time: byStart.time, order: shownOrder('createdAt'), reader: 'anybody' },
  },
  'public startedAt': { ...within(tracesAfter('startedAt', true), 'startedAt'), reader: 'anybody' },
  'public updatedAt': { ...within(tracesAfter('updatedAt', true), 'updatedAt'), reader: 'anybody' },
  'all startedAt': { ...within(tracesAfter('startedAt', false), 'startedAt'), reader: 'member' },
  'all updatedAt': { ...within(tracesAfter('updatedAt', false), 'updatedAt'), reader: 'member' },
  'authored startedAt': { ...within(authoredAfter, 'startedAt'), reader: 'member' },
  'authored updatedAt': {
    ...within(tracesAfter('updatedAt', false), 'updatedAt'),
    ...{ reader: 'member', also: `t.created_by = ${at.member}` },
  },
}

/** SQL that is always true, for the types of the parameters: PostgreSQL has to know those of the ones that a statement does not need, too. */
const typed = `true or (${at.namespace}::uuid, ${at.member}::uuid, ${at.to}::float8) is null`

const right = ({ reader }: Source): string => (reader === 'member' ? whileMember(at.member) : '')

const heldBy = (column: Column): string => {
  const [value, type] = columns[column]
  const first = FIRST_COLUMN + 2 * names.indexOf(column)
  const [any, none] = [`$${first}::${type}[]`, `$${first + 1}::${type}[]`]
  return `(${any} is null or ${value} = any(${any})) and coalesce(${value} <> all(${none}), true)`
}

// The service itself has written what it counts here, numbers only.
const counted = (name: string): string => `coalesce((c.shape ->> '${name}')::float8, 0)`
const isAs = (wanted: string, holds: string): string => `(${wanted}::bool is null or ${wanted} = (${holds}))`

const conditionOf = ({ time, reader, also = 'true' }: Source): string =>
  [
    ...names.map(heldBy),
    isAs(PUBLIC, `t.visibility = 'public'`),
    isAs(ERROR, `${counted('failed')} > 0`),
    isAs(CHANGES, `${counted('files')} + ${counted('added')} + ${counted('removed')} > 0`),
    `${time} between ${FROM} and ${TO}`,
    also,
    isRoot('t', reader),
  ].join('\n      and ')

const traceOf = (alias: string) => `cross join lateral (select * from traces r where r.id = ${alias}.id limit 1) t`

/**
 * A page: the sessions that meet the conditions, and the last one that was looked at, also if it does not meet them. It looks at them one after the
 * other, and stops when the page is full.
 */
const pageStatement = (source: Source): string => {
  const { from, keys, order, reader } = source
  const named = keys.map((_, i) => `key_${i}`)
  const sorted = newestFirst(named)
  return pageRows(
    `
  select ${feedColumns}, ${childCount(reader)}, f.matches, f.is_last, f.has_older from (
    select i.*, m.matches, i.nth = ${MOST_LOOKED_AT} as is_last from (
      select k.*, row_number() over w as nth, lead(id) over w is not null as has_older from (
        select id, ${keys.map((key, i) => `${key} as ${named[i]}`).join(', ')} from ${from} and (${typed})
        order by ${newestFirst(keys)} limit ${MOST_LOOKED_AT + 1}
      ) k window w as (order by ${sorted})
    ) i
    ${traceOf('i')}
    left join lateral (select r.shape from counts r where r.trace_id = i.id limit 1) c on true
    cross join lateral (select coalesce(${conditionOf(source)}, false) as matches) m
    where i.nth <= ${MOST_LOOKED_AT} and (m.matches or i.nth = ${MOST_LOOKED_AT})
    order by ${sorted} limit ${at.limit}
  ) f ${feedTables} ${right(source)}`,
    order,
  )
}

const asked = (column: Column, value: string) =>
  `case when '${column}' = any($8::text[]) then ${value} end as ${column}`

/** The different values of the columns in $8 of the sessions that a page looks at, at most $4. */
const valuesStatement = (source: Source): string => `
  select v.*, (select u.display_name from users u where u.id = v.author limit 1) as author_name from (
    select distinct ${asked('agent', 't.agent_id::text')}, ${asked('model', 't.model::text')},
      case when 'model' = any($8::text[]) then t.model_name::text end as model_name,
      ${asked('project', 't.project_name::text')}, ${asked('branch', 't.git_branch::text')}, ${asked('author', 't.created_by')}
    from (
      select id from ${source.from} and (${typed}) order by ${newestFirst(source.keys)} limit ${at.limit}
    ) i ${traceOf('i')} ${right(source)}
  ) v`

const statementsOf = (source: Source) => ({ page: pageStatement(source), values: valuesStatement(source) })

export const filteredStatements = Object.fromEntries(
  Object.entries(sources).map(([name, source]) => [name, statementsOf(source)]),
) as Readonly<Record<keyof typeof sources, ReturnType<typeof statementsOf>>>

const nameOf = (list: FilteredList): keyof typeof sources =>
  list.of === 'everybody' ? 'everybody' : `${list.which.kind} ${list.sort}`

const sortOf = (list: FilteredList) => (list.of === 'everybody' ? 'createdAt' : list.sort)

type Page = { readonly limit: number; readonly cursor: string | undefined }
type Times = Pick<StoredFilter, 'from' | 'to'>

/** The parameters of a statement that all have. @throws 400 for a cursor that is not of this list */
const valuesOf = (list: FilteredList, { limit, cursor }: Page, { from, to }: Times): unknown[] => {
  const member = list.of === 'namespace' && list.which.kind !== 'public' ? list.which.member : null
  const [namespace, time, id] = orderValues(
    list.of === 'namespace' ? list.id : '',
    listPlaceOf({ sort: sortOf(list), cursor }),
  )
  return [namespace === '' ? null : namespace, time, id, limit, member, from ?? null, to ?? null]
}

/** Different values of columns of a list, as they are stored: texts as JSON. */
export type ValuesRow = {
  readonly [Name in Exclude<Column, 'namespace'> | 'model_name' | 'author_name']: string | null
}

/** The values that the sessions have which a page looks at, of these columns; those of different columns belong together. */
export const valuesIn = (
  { reads }: FeedSources,
  list: FilteredList,
  {
    cursor,
    wanted,
    times,
  }: { readonly cursor: string | undefined; readonly wanted: readonly Column[]; readonly times: Times },
): Promise<ValuesRow[]> => {
  const name = nameOf(list)
  const values = valuesOf(list, { limit: MOST_LOOKED_AT, cursor }, times)
  return reads.rows<ValuesRow & Row>(`values-${name}`, filteredStatements[name].values, [...values, texts(wanted)])
}

const encoded = (column: Column, values: readonly string[]): Buffer =>
  columns[column][1] === 'uuid' ? uuids(values) : texts(values)

const filterValues = (filter: StoredFilter): unknown[] => [
  ...[filter.isPublic, filter.hasError, filter.hasChanges].map((one) => one ?? null),
  ...names.flatMap((column) => {
    const { any, none = [] } = filter.columns.get(column) ?? {}
    return [any ? encoded(column, any) : null, encoded(column, none)]
  }),
]

/** A page of a filtered list. `isCutShort`: it has looked at as many sessions as a page may, and there are older ones, with which the next page begins. */
export type FilteredPage = SessionList & { readonly isCutShort: boolean }

type FilteredRow = FeedRow & { matches: boolean; is_last: boolean; has_older: boolean }

const shownTraces = (entries: readonly FeedEntry[]): FeedTrace[] =>
  entries.flatMap(({ text }) => (text === '' ? [] : [JSON.parse(text) as FeedTrace]))

/**
 * A page of the sessions in a list that meet a filter.
 * @throws 400 for a cursor that is not of this list
 */
export const filteredPage = async (
  services: FeedSources,
  list: FilteredList,
  filter: StoredFilter,
  { limit, cursor }: Page,
): Promise<FilteredPage> => {
  const name = nameOf(list)
  const values = [...valuesOf(list, { limit: limit + 1, cursor }, filter), ...filterValues(filter)]
  const rows = await services.reads.rows<FilteredRow & Row>(`filtered-${name}`, filteredStatements[name].page, values)
  const matching = rows.filter(({ matches }) => matches)
  const entries = await toEntries(matching, services)
  const count = fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )
  const last = rows.at(-1)
  const isCutShort = count === matching.length && last !== undefined && last.is_last && last.has_older
  const next = isCutShort ? last : matching[count - 1]
  return {
    traces: shownTraces(entries.slice(0, count)),
    nextCursor: next && (isCutShort || matching.length > count) ? cursorAfterTrace(sortOf(list), next) : undefined,
    isCutShort,
  }
}
