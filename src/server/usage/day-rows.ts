import { newYielding } from '../../base/yielding.ts'
import type { ReadRows } from '../../eventstore/engine/in-snapshot.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { int8s } from '../../eventstore/postgres/arrays.ts'
import type { ReadTables } from '../../tables/main.ts'
import { DAY_QUARTERS } from '../../tables/usage.ts'
import { dayIn } from '../../tables/usage-days.ts'
import type { Period } from './days.ts'

/** A namespace, a period, and the quarters with which its days begin; none to add all days up. */
export type Asked = { readonly namespaceId: string; readonly period: Period; readonly days: readonly number[] }

/** Whose rows are told apart by author: everybody's, or only the own ones. */
export type Authors = { readonly userId: string; readonly seesAll: boolean }

export type UsageReads = Pick<Reads<ReadTables>, 'snapshot'>

const literal = (column: string) => `coalesce(nullif(t.${column}, ''), 'null')`

/** SQL for what is asked for of a trace `t` and its sums `d`, as JSON text. */
const columns = {
  agent: literal('agent'),
  project: literal('project'),
  model: literal('trace_model'),
  author: `case when $7::bool or t.created_by = $8::uuid then '"' || t.created_by || '"' else 'null' end`,
  used: `'[' || d.used || ']'`,
  quarters: `'[' || d.quarters || ']'`,
  tools: `'[' || d.tools || ']'`,
} as const

export type Column = keyof typeof columns

type Value = { used: unknown[]; quarters: number[]; tools: (string | number)[] }
type ValueOf<Name extends Column> = Name extends keyof Value ? Value[Name] : string | null

/** The messages of a trace on the day of the question with this index, from 1 on; 0 if all days are added up. The other values are those asked for. */
export type DayRow<Names extends readonly Column[]> = [
  trace: string,
  day: number,
  messages: number,
  ...{ [I in keyof Names]: ValueOf<Names[I]> },
]

const indexOf = (slot: string) => `width_bucket(${slot}, $4::int8[])`

/** SQL for whether all quarters of a row are in the period, and of one day of the question. */
const isWhole = `(t.first >= $2 and t.last < $3 and ${indexOf('t.first')} = ${indexOf('t.last')})`

/**
 * SQL for the rows of some days of UTC. The sums of a day count as they are where they are wholly asked for, and of one day of the question; else
 * they are made of its quarters of an hour.
 */
const statement = (names: readonly Column[]) => {
  const row = ['t.trace_id', 'i.index', 'd.messages', ...names.map((name) => columns[name])]
    .map((value, i) => (i === 0 ? `'["' || ${value} || '"'` : value))
    .join(` || ',' || `)
  const some = `from usage_days t`
  const asked = 't.namespace_id = $1 and t.day >= $5 and t.day < $6'
  const begins = (index: string) => `($4::int8[])[${index}]`
  return `
    select string_agg(${row} || ']', ',') as rows ${some}
    cross join lateral (select ${indexOf('t.first')} as index) i
    cross join lateral (select t.messages, t.used, t.quarters, t.tools) d
    where ${asked} and ${isWhole} and t.messages > 0 group by t.day
    union all
    select string_agg(${row} || ']', ',') ${some}
    cross join lateral generate_series(${indexOf('greatest(t.first, $2)')}, ${indexOf('least(t.last, $3 - 1)')}) i (index)
    ${dayIn('t.trace_id', `greatest(t.first, $2, ${begins('i.index')})`, `least(t.last + 1, $3, ${begins('i.index + 1')})`)}
    where ${asked} and not ${isWhole} and t.first < $3 and t.last >= $2 and d.messages > 0 group by t.day`
}

/** So many days of UTC are read at once: the next ones while rows are added up. */
const PIECE_DAYS = 64

/** The messages of a namespace that count, for each trace and day, in pieces between which the event loop is free. */
export async function* dayRows<const Names extends readonly Column[]>(
  readRows: ReadRows,
  names: Names,
  { namespaceId, period, days }: Asked,
  { seesAll, userId }: Authors,
): AsyncGenerator<DayRow<Names>[], void> {
  const [first, end] = [Math.floor(period.from / DAY_QUARTERS), Math.ceil(period.to / DAY_QUARTERS)]
  const begins = int8s(days)
  const read = async (from: number) => {
    const values = [namespaceId, period.from, period.to, begins, from, Math.min(from + PIECE_DAYS, end)]
    return readRows<Row & { rows: string }>(
      `usage-days-${names.join('-')}`,
      statement(names),
      names.includes('author') ? [...values, seesAll, userId] : values,
    )
  }
  const yielding = newYielding()
  for (let from = first, next = read(from); from < end; from += PIECE_DAYS) {
    const found = await next
    next = from + PIECE_DAYS < end ? read(from + PIECE_DAYS) : next
    next.catch(() => {}) // the consumer may stop before
    for (const { rows } of found) {
      await yielding()
      yield JSON.parse(`[${rows}]`) as DayRow<Names>[]
    }
  }
}
