import { MOST_ROWS, type UsageKey } from '../../contract/namespace-usage.ts'
import type { ReadTables } from '../../tables/main.ts'
import { dayOf, eachSum, ofTrace } from '../../tables/usage.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { int8s } from '../../eventstore/postgres/arrays.ts'
import type { KnownModels } from '../models/registry.ts'
import { groupsOf } from './sums.ts'
import type { Period } from './days.ts'

/** A namespace, a period, and the quarters with which its days begin; none to add all days up. */
export type Asked = { readonly namespaceId: string; readonly period: Period; readonly days: readonly number[] }

/** Whose rows are told apart by author: everybody's, or only the own ones. */
export type Authors = { readonly userId: string; readonly seesAll: boolean }

/** What the messages with one key have used together, on the day with this index; the key is a JSON literal, or empty. */
export type SumRow = { day: number; key: string; traces: bigint; messages: bigint; groups: string | null }

export const inPeriod = (slot: string) => `${slot} >= $2 and ${slot} < $3`

/** SQL for copied answers of a period that count for another trace. */
export const copies = `(select * from copied_answers where namespace_id = $1 and elsewhere and ${inPeriod('slot')})`

/** SQL for the model of messages as a JSON literal; empty if neither they nor their trace have one. */
export const modelOf = `coalesce(nullif(c.model, ''), c.trace_model)`

/** For each key SQL for that of messages `c` as a JSON literal, empty without one. The parameters from $5 on are of the key. */
const keys = {
  day: `''`,
  agent: 'c.agent',
  project: 'c.project',
  model: modelOf,
  author: `case when $5::bool or c.created_by = $6::uuid then to_json(c.created_by)::text else '' end`,
} as const satisfies Partial<Record<UsageKey, string>>

/** SQL for the model as traces show it; the parameter is an object with how they show each spelling. */
const SHOWN_MODEL = `coalesce($5::jsonb ->> ${modelOf}, ${modelOf})`

type Key = (typeof keys)[keyof typeof keys] | typeof SHOWN_MODEL

/** One more row than an answer may have. */
const LIMIT = MOST_ROWS + 1

/** SQL for the index of the day of a quarter of an hour, from 1; 0 if all days are added up. */
const DAY = 'width_bucket(c.slot, $4::int8[])'

/** SQL for the days of UTC of a period. */
export const inDays = (day: string) => `${day} between ${dayOf('$2::int8')} and ${dayOf('($3::int8 - 1)')}`

/** SQL for whether all quarters of a row `d` with the sums of a day of UTC are in the period, and of one day of the question. */
const isWhole = `(d.first >= $2 and d.last < $3 and width_bucket(d.first, $4::int8[]) = width_bucket(d.last, $4::int8[]))`

/**
 * SQL for rows of a table with sums by days of UTC, each with one of its quarters as `slot`; and for those of the table with the sums by quarters where the
 * sums of a day are not wholly asked for. There are three times as many of these. They are compared by trace as well, because the index of a namespace would
 * find those of all its traces.
 */
const rowsInPeriod = ({ days, quarters, same, ofDay, columns }: typeof usageTables | typeof toolTables) => `
  select d.trace_id, d.first as slot, ${ofDay}${columns('d')} from ${days} d
  where d.namespace_id = $1 and ${inDays('d.day')} and ${isWhole}
  union all
  select c.trace_id, c.slot, ${ofDay}${columns('c')} from ${days} d
  cross join lateral (
    select * from ${quarters} r
    where r.trace_id = d.trace_id and (r.trace_id, r.slot) >= (d.trace_id, d.first) and (r.trace_id, r.slot) <= (d.trace_id, d.last)
      and ${same.map((name) => `r.${name} = d.${name}`).join(' and ')} offset 0
  ) c
  where d.namespace_id = $1 and ${inDays('d.day')} and not ${isWhole} and ${inPeriod('c.slot')}`

const usageTables = {
  days: 'usage_days',
  quarters: 'usage',
  same: ['model_hash', 'prices', 'kinds'],
  ofDay: `${Object.keys(ofTrace).map((name) => `d.${name}`)}, `,
  columns: (c: string) => `${c}.messages, ${c}.model, ${c}.prices, ${c}.kinds, ${eachSum((name) => `${c}.${name}`)}`,
} as const

const toolTables = {
  days: 'usage_tool_days',
  quarters: 'usage_tools',
  same: ['tool_hash'],
  ofDay: '',
  columns: (c: string) => `${c}.messages, ${c}.tool`,
} as const

/**
 * SQL for the sums of traces by the day, the model, the prices and the kinds. Of answers that count for another trace there are rows that subtract
 * them, so only what they are added up to tells whether something counts.
 */
export const sumsOfTraces = (prices = 'c.prices') => `
  select c.trace_id, ${DAY} as day, ${Object.keys(ofTrace)}, c.model, ${prices} as prices, c.kinds, c.messages::float8 as messages,
    ${eachSum((name) => `c.${name}`)}
  from (${rowsInPeriod(usageTables)}) c
  union all
  select c.trace_id, c.day, ${Object.values(ofTrace)}, c.model, c.prices, c.kinds, c.messages, ${eachSum((name) => `c.${name}`)}
  from (
    select c.trace_id, ${DAY} as day, c.model, ${prices} as prices, c.kinds, -count(*)::float8 as messages,
      ${eachSum((name) => `-sum(c.${name}) as ${name}`)}
    from ${copies} c group by 1, 2, 3, 4, 5
  ) c cross join lateral (select * from traces r where r.id = c.trace_id limit 1) t`

// There are two groupings: the sums, and the traces, because several groups of a key may be of one trace.
const sumStatement = (key: Key): string => `
  select g.day, g.key, count(*) filter (where g.is_trace) as traces,
    (sum(g.messages) filter (where not g.is_trace))::int8 as messages,
    ${groupsOf('g', 'not g.is_trace and g.kinds <> 0')} as groups
  from (
    select day, key, model, prices, kinds, grouping(trace_id) = 0 as is_trace, sum(messages) as messages,
      ${eachSum((name) => `sum(${name}) as ${name}`)}
    from (
      select c.trace_id, c.day, ${key} as key, case when c.kinds = 0 then '' else ${modelOf} end as model, c.prices, c.kinds, c.messages,
        ${eachSum((name) => `c.${name}`)}
      from (${sumsOfTraces()}) c
    ) keyed
    group by grouping sets ((day, key, model, prices, kinds), (day, key, trace_id)) having sum(messages) > 0
  ) g group by 1, 2 limit ${LIMIT}`

// Copies are added up before their tools are taken apart: those of a fork call the same ones over and over.
const toolStatement = `
  with of_traces as (
    select c.trace_id, ${DAY} as day, c.tool as key, sum(c.messages) as messages from (
      ${rowsInPeriod(toolTables)}
      union all
      select m.trace_id, m.slot, m.messages, called.tool from (
        select c.trace_id, min(c.slot) as slot, c.tools::text as tools, -count(*)::int4 as messages
        from ${copies} c group by c.trace_id, ${DAY}, c.tools::text
      ) m cross join lateral (select distinct e::text as tool from json_array_elements(m.tools::json) e) called
    ) c group by 1, 2, 3
  )
  select day, key, count(*) as traces, sum(messages)::int8 as messages, null as groups
  from of_traces where messages > 0 group by 1, 2 order by 4 desc limit ${LIMIT}`

const failedStatement = `
  select c.tool, sum(c.calls)::int4 as calls from (
    select tool, count(*) as calls from failed_calls where namespace_id = $1 and ${inPeriod('slot')} group by 1
    union all
    select f.tool, -1 from ${copies} m
    cross join lateral (select * from failed_calls r where r.trace_id = m.trace_id and r.ordinal = m.ordinal offset 0) f
  ) c group by 1 having sum(c.calls) > 0`

type UsageReads = Pick<Reads<ReadTables>, 'rows'>

/** The model of a JSON literal as traces show it, as a JSON literal. */
export const shownModel = (models: KnownModels, literal: string): string => {
  const spelling = JSON.parse(literal) as string
  return JSON.stringify(models.find(spelling)?.model ?? spelling)
}

/**
 * The same by the models that traces show: rows of several spellings of one model are one. SQL adds those up, because a trace may have messages of
 * several of them; mostly there is one spelling.
 */
const byShownModel = async (
  reads: UsageReads,
  models: KnownModels,
  values: readonly unknown[],
  bySpelling: readonly SumRow[],
): Promise<SumRow[]> => {
  const spellings = [...new Set(bySpelling.map(({ key }) => key))]
  const shown = new Map(spellings.map((key) => [key, key === '' ? '' : shownModel(models, key)]))
  if (new Set(shown.values()).size === spellings.length)
    return bySpelling.map((row) => ({ ...row, key: shown.get(row.key)! }))
  const given = [...values, JSON.stringify(Object.fromEntries(shown))]
  return reads.rows<SumRow & Row>('usage-by-shown-model', sumStatement(SHOWN_MODEL), given)
}

/** What the messages of a namespace have used and cost, by a key; at most one row more than an answer may have, in no order. */
export const usageRows = async (
  reads: UsageReads,
  models: KnownModels,
  by: UsageKey,
  asked: Asked,
  { userId, seesAll }: Authors,
): Promise<SumRow[]> => {
  const { namespaceId, period, days } = asked
  const values = [namespaceId, period.from, period.to, int8s(days)]
  if (by === 'tool') return reads.rows<SumRow & Row>('usage-by-tool', toolStatement, values)
  const given = by === 'author' ? [...values, seesAll, userId] : values
  const rows = await reads.rows<SumRow & Row>(`usage-by-${by}`, sumStatement(keys[by]), given)
  return by === 'model' ? byShownModel(reads, models, values, rows) : rows
}

/** How many calls of each tool have failed, by the JSON literal of the tool: those of messages in the period, without copies of answers. */
export const failedCalls = async (
  reads: UsageReads,
  { namespaceId, period }: Pick<Asked, 'namespaceId' | 'period'>,
): Promise<ReadonlyMap<string, number>> => {
  const rows = await reads.rows<{ tool: string; calls: number }>('usage-failed-calls', failedStatement, [
    namespaceId,
    period.from,
    period.to,
  ])
  return new Map(rows.map(({ tool, calls }) => [tool, calls]))
}
