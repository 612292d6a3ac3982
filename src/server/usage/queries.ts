import { MOST_ROWS, type UsageKey } from '../../contract/namespace-usage.ts'
import type { ReadTables } from '../../tables/main.ts'
import { eachSum } from '../../tables/usage.ts'
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

/**
 * SQL for copied answers of a period that count for another trace: of one answer of an agent, all but that which came first. The agent is that which a
 * trace has now. `of` is SQL for all copies `c` of some answers.
 */
const copiesIn = (of: string) => `(
  select * from (
    select c.*, row_number() over (
      partition by c.answer, t.agent_id::text order by c.created_at, t.created_at, c.trace_id
    ) as place
    from ${of} cross join lateral (select * from traces r where r.id = c.trace_id limit 1) t
    where c.namespace_id = $1
  ) ranked where place > 1 and ${inPeriod('slot')}
)`

/** All copies of the namespace are ranked: to look for earlier ones of each in the period takes three times as long for a year. */
export const copies = copiesIn('copied_answers c')

/** SQL for the traces `t` of messages `c`. */
export const traces = 'cross join lateral (select * from traces r where r.id = c.trace_id limit 1) t'
/** The same, for messages that have used something and have no model of their own. */
const tracesWithModel = `left join lateral (
  select * from traces r where c.model = '' and c.kinds <> 0 and r.id = c.trace_id limit 1
) t on true`

/** SQL for the model of messages as a JSON literal; empty if neither they nor their trace have one. */
export const modelOf = `coalesce(nullif(c.model, ''), t.model::text, '')`

/** For each key SQL for that of messages `c` as a JSON literal, empty without one, and for their traces `t`. The parameters from $5 on are of the key. */
export const keys = {
  day: [`''`, tracesWithModel],
  agent: ['t.agent_id::text', traces],
  project: [`coalesce(t.project_name::text, '')`, traces],
  model: [modelOf, traces],
  author: [`case when $5::bool or t.created_by = $6::uuid then to_json(t.created_by)::text else '' end`, traces],
} as const satisfies Partial<Record<UsageKey, readonly [string, string]>>

/** SQL for the model as traces show it; the parameter is an object with how they show each spelling. */
const SHOWN_MODEL = `coalesce($5::jsonb ->> ${modelOf}, ${modelOf})`

type Key = (typeof keys)[keyof typeof keys] | readonly [typeof SHOWN_MODEL, typeof traces]

/** One more row than an answer may have. */
const LIMIT = MOST_ROWS + 1

/** SQL for the index of the day of a quarter of an hour, from 1; 0 if all days are added up. */
const DAY = 'width_bucket(c.slot, $4::int8[])'

/**
 * SQL for the sums of each trace by the day, the model, the prices and the kinds. Of answers that count for another trace there are rows that subtract
 * them, so only what they are added up to tells whether something counts. Each kind of rows is grouped by itself: together PostgreSQL would expect
 * so few rows, beside the cost of ranking copies, that it would sort them.
 */
export const sumsOfTraces = (prices = 'c.prices') => `
  select c.trace_id, ${DAY} as day, c.model, ${prices} as prices, c.kinds, sum(c.messages)::float8 as messages,
    ${eachSum((name) => `sum(c.${name}) as ${name}`)}
  from usage c where c.namespace_id = $1 and ${inPeriod('c.slot')} group by 1, 2, 3, 4, 5
  union all
  select c.trace_id, ${DAY}, c.model, ${prices}, c.kinds, -count(*)::float8, ${eachSum((name) => `-sum(c.${name})`)}
  from ${copies} c group by 1, 2, 3, 4, 5`

// The sums of each trace come first: they are fewer, so that fewer traces are looked up. Then there are two groupings of them: the sums, and the
// traces, because several groups of a key may be of one trace.
const sumStatement = ([key, itsTraces]: Key): string => `
  select g.day, g.key, count(*) filter (where g.is_trace) as traces,
    (sum(g.messages) filter (where not g.is_trace))::int8 as messages,
    ${groupsOf('g', 'not g.is_trace and g.kinds <> 0')} as groups
  from (
    select day, key, model, prices, kinds, grouping(trace_id) = 0 as is_trace, sum(messages) as messages,
      ${eachSum((name) => `sum(${name}) as ${name}`)}
    from (
      select c.trace_id, c.day, ${key} as key, ${modelOf} as model, c.prices, c.kinds, c.messages,
        ${eachSum((name) => `c.${name}`)}
      from (${sumsOfTraces()}) c ${itsTraces}
    ) keyed
    group by grouping sets ((day, key, model, prices, kinds), (day, key, trace_id)) having sum(messages) > 0
  ) g group by 1, 2 limit ${LIMIT}`

const toolStatement = `
  with of_traces as (
    select c.trace_id, ${DAY} as day, c.tool as key, sum(c.messages) as messages from (
      select trace_id, slot, tool, messages from usage_tools where namespace_id = $1 and ${inPeriod('slot')}
      union all
      select m.trace_id, m.slot, called.tool, -1 from ${copies} m
      cross join lateral (select distinct e::text as tool from json_array_elements(m.tools) e) called
    ) c group by 1, 2, 3
  )
  select day, key, count(*) as traces, sum(messages)::int8 as messages, null as groups
  from of_traces where messages > 0 group by 1, 2 order by 4 desc limit ${LIMIT}`

const copiesOfFailedCalls = copiesIn(`(
    select distinct o.answer from failed_calls f cross join lateral (
      select * from copied_answers r where r.trace_id = f.trace_id and r.ordinal = f.ordinal limit 1
    ) o
    where f.namespace_id = $1 and ${inPeriod('f.slot')}
  ) a
  cross join lateral (select * from copied_answers r where r.namespace_id = $1 and r.answer = a.answer offset 0) c`)

const failedStatement = `
  select c.tool, sum(c.calls)::int4 as calls from (
    select tool, 1 as calls from failed_calls where namespace_id = $1 and ${inPeriod('slot')}
    union all
    select f.tool, -1 from ${copiesOfFailedCalls} m
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
  return reads.rows<SumRow & Row>('usage-by-shown-model', sumStatement([SHOWN_MODEL, traces]), given)
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
