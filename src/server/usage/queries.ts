import { MOST_ROWS, type UsageKey } from '../../contract/namespace-usage.ts'
import type { ReadTables } from '../../tables/main.ts'
import { eachSum, slotOf, usageIn } from '../../tables/usage.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { int8s, texts } from '../../eventstore/postgres/arrays.ts'
import type { KnownModels } from '../models/registry.ts'
import { groupsOf } from './sums.ts'
import type { Period } from './days.ts'

/** A namespace, a period, and the quarters with which its days begin; none to add all days up. */
export type Asked = { readonly namespaceId: string; readonly period: Period; readonly days: readonly number[] }

/** Whose rows are told apart by author: everybody's, or only the own ones. */
export type Authors = { readonly userId: string; readonly seesAll: boolean }

/** What the messages with one key have used together, on the day with this index; the key is a JSON literal, or empty. */
export type SumRow = { day: number; key: string; traces: bigint; messages: bigint; groups: string | null }

/**
 * SQL for messages `m` that count for another trace: of one answer, all but that which came first. Those of an agent have the same answer only if
 * it has the same agent now.
 */
export const copies = `
  select ranked.trace_id, ranked.incarnation, m.* from (
    select c.trace_id, c.ordinal, c.answer, t.incarnation, row_number() over (
      partition by t.agent_id::text, c.answer order by c.created_at, t.created_at, c.trace_id
    ) as place
    from copied_answers c join traces t on t.id = c.trace_id where c.namespace_id = $1
  ) ranked
  cross join lateral (
    select r.model, r.prices, r.usage, r.tools, r.timestamp, r.created_at, r.ordinal from messages r
    where r.trace_id = ranked.trace_id and r.incarnation = ranked.incarnation and r.ordinal = ranked.ordinal
      and r.answer = ranked.answer limit 1
  ) m
  where ranked.place > 1`

export const inPeriod = (slot: string) => `${slot} >= $2 and ${slot} < $3`

export const present = (u: string) => `join traces t on t.id = ${u}.trace_id and t.incarnation = ${u}.incarnation`

/** SQL for what counts, in rows for each trace; of an answer that counts for another trace there is a row that subtracts it. */
const counted = `
  select u.trace_id, u.slot, u.model, u.prices, u.kinds, u.messages, ${eachSum((name) => `u.${name}`)}
  from usage u ${present('u')} where u.namespace_id = $1 and ${inPeriod('u.slot')}
  union all
  select m.trace_id, used.slot, used.model, used.prices, used.kinds, -1, ${eachSum((name) => `-used.${name}`)}
  from (${copies}) m ${usageIn('m')} where ${inPeriod('used.slot')}`

/** SQL for the same messages by the tools that they call. */
const countedTools = `
  select u.trace_id, u.slot, u.tool, u.messages
  from usage_tools u ${present('u')} where u.namespace_id = $1 and ${inPeriod('u.slot')}
  union all
  select m.trace_id, m.slot, called.tool, -1 from (select m.*, ${slotOf('m')} as slot from (${copies}) m) m
  cross join lateral (select distinct e::text as tool from json_array_elements(m.tools) e) called
  where ${inPeriod('m.slot')}`

/** SQL for the model of messages as a JSON literal; empty if neither they nor their trace have one. */
export const modelOf = `coalesce(nullif(c.model, ''), t.model::text, '')`

/** SQL for the key of the messages `c` of a trace `t`, as a JSON literal; empty without one. The parameters from $5 on are those of the key. */
export const keys = {
  day: `''`,
  agent: 't.agent_id::text',
  project: `coalesce(t.project_name::text, '')`,
  model: `coalesce((select k.shown from unnest($5::text[], $6::text[]) k (spelling, shown) where k.spelling = ${modelOf}), '')`,
  author: `case when $5::bool or t.created_by = $6::uuid then to_json(t.created_by)::text else '' end`,
  tool: 'c.tool',
} as const satisfies Record<UsageKey, string>

/** One more row than an answer may have. */
const LIMIT = MOST_ROWS + 1

/** SQL for the index of the day of a quarter of an hour, from 1; 0 if all days are added up. */
export const DAY = 'width_bucket(c.slot, $4::int8[])'

// The traces are counted beside the groups, because several groups of a key may be of one trace.
const sumStatement = (by: Exclude<UsageKey, 'tool'>): string => `
  with of_traces as materialized (
    select c.trace_id, ${DAY} as day, c.model, c.prices, c.kinds, sum(c.messages) as messages,
      ${eachSum((name) => `sum(c.${name}) as ${name}`)}
    from (${counted}) c group by 1, 2, 3, 4, 5
  ), keyed as materialized (
    select c.day, ${keys[by]} as key, c.trace_id, ${modelOf} as model, c.prices, c.kinds, c.messages,
      ${eachSum((name) => `c.${name}`)}
    from of_traces c join traces t on t.id = c.trace_id where c.messages > 0
  ), groups as (
    select day, key, model, prices, kinds, sum(messages) as messages, ${eachSum((name) => `sum(${name}) as ${name}`)}
    from keyed group by 1, 2, 3, 4, 5
  ), traces_with as (
    select day, key, count(distinct trace_id) as traces from keyed group by 1, 2
  )
  select g.day, g.key, w.traces, sum(g.messages)::int8 as messages, (${groupsOf('g')} filter (where g.kinds <> 0))::text as groups
  from groups g join traces_with w on w.day = g.day and w.key = g.key group by 1, 2, 3 limit ${LIMIT}`

const toolStatement = `
  with of_traces as (
    select c.trace_id, ${DAY} as day, c.tool as key, sum(c.messages) as messages from (${countedTools}) c group by 1, 2, 3
  )
  select day, key, count(*) as traces, sum(messages)::int8 as messages, null as groups
  from of_traces where messages > 0 group by 1, 2 limit ${LIMIT}`

const modelsStatement = `
  select distinct ${modelOf} as model from usage c ${present('c')}
  where c.namespace_id = $1 and c.slot >= $2 and c.slot < $3`

type UsageReads = Pick<Reads<ReadTables>, 'rows'>

/** The models that the messages of a namespace have had in a period, as they were spelled, as JSON literals. */
const spellingsIn = async (reads: UsageReads, { namespaceId, period }: Asked): Promise<string[]> => {
  const values = [namespaceId, period.from, period.to]
  const rows = await reads.rows<{ model: string } & Row>('usage-models', modelsStatement, values)
  return rows.map(({ model }) => model).filter((model) => model !== '')
}

/** The model of a JSON literal as traces show it, as a JSON literal. */
export const shownModel = (models: KnownModels, literal: string): string => {
  const spelling = JSON.parse(literal) as string
  return JSON.stringify(models.find(spelling)?.model ?? spelling)
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
  const values: unknown[] = [namespaceId, period.from, period.to, int8s(days)]
  if (by === 'tool') return reads.rows<SumRow & Row>('usage-by-tool', toolStatement, values)
  if (by === 'author') values.push(seesAll, userId)
  if (by === 'model') {
    const spellings = await spellingsIn(reads, asked)
    values.push(texts(spellings), texts(spellings.map((literal) => shownModel(models, literal))))
  }
  return reads.rows<SumRow & Row>(`usage-by-${by}`, sumStatement(by), values)
}
