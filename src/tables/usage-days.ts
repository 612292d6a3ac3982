import { rewritten } from './storage.ts'
import { tableOf } from './table.ts'
import { DAY_QUARTERS, eachSum } from './usage.ts'

/**
 * What the messages of a trace that count in its namespace have used on a day of UTC: one row for `usage`, `usage_tools` and `copied_answers` of that
 * day, which is made anew when one of these changes. `first` and `last` are quarters of an hour, and all messages are in them. What a trace is is
 * here as well: the agent, the project and the model are JSON literals, or empty. A row may have no messages: all its answers count elsewhere.
 *
 * The rest is what a page or an answer adds up in JavaScript, as values of a JSON array without brackets:
 * - `used`: ten values for the messages with one model, price and kind of usage (`usedColumns`). Messages with neither a model nor usage are only in `messages`.
 * - `quarters`: a quarter of an hour and how many messages it has.
 * - `tools`: a tool and how many messages call it.
 */
export const usageDaysTable = tableOf(
  'usage_days',
  {
    trace_id: 'uuid not null',
    namespace_id: 'uuid not null',
    day: 'int8 not null',
    first: 'int8 not null',
    last: 'int8 not null',
    agent: 'text collate "C" not null',
    project: 'text collate "C" not null',
    trace_model: 'text collate "C" not null',
    created_by: 'uuid not null',
    messages: 'int4 not null',
    used: 'text collate "C" not null',
    quarters: 'text collate "C" not null',
    tools: 'text collate "C" not null',
    stale: 'bool not null',
  },
  { constraint: 'primary key (trace_id, day)', storage: `fillfactor = 70, ${rewritten}` },
)

/** SQL for the columns that say what a trace `t` is. */
export const ofTrace = {
  agent: 't.agent_id::text',
  project: `coalesce(t.project_name::text, '')`,
  trace_model: `coalesce(t.model::text, '')`,
  created_by: 't.created_by',
} as const

/** SQL for the day of UTC of a quarter of an hour. */
export const dayOf = (slot: string): string => `floor(${slot}::float8 / ${DAY_QUARTERS})::int8`

/** Marks the rows of days for which there are copies `select` of answers, so that they are made anew. */
export const markStale = (select: string): string => `
  update usage_days d set stale = true from (${select}) s where d.trace_id = s.trace_id and d.day = ${dayOf('s.slot')}`

/** The values of `used`, in their order, as SQL. */
const usedColumns = [
  `case when g.model = '' then 'null' else g.model end`,
  ...['g.prices', 'g.kinds', 'g.messages'],
  ...eachSum((name) => `g.${name}`).split(', '),
]

/** How many values of `used` belong together. */
export const USED_VALUES = usedColumns.length

const listOf = (values: readonly string[], order: string, condition: string) =>
  `coalesce(string_agg(${values.join(` || ',' || `)}, ',' order by ${order}) filter (where ${condition}), '')`

/**
 * SQL that joins the columns from `first` to `tools` of `usage_days`, as `d`, for the quarters of an hour of a trace from one up to another. What answers
 * have used that count elsewhere is subtracted. Without any row in `usage`, `first` is null.
 */
export const dayIn = (trace: string, from: string, to: string): string => {
  const within = `slot >= ${from} and slot < ${to}`
  const copies = `(select * from copied_answers r where r.trace_id = ${trace} and r.elsewhere offset 0) c where c.${within}`
  return `
  cross join lateral (
    select min(g.slot) as first, max(g.slot) as last,
      coalesce(sum(g.messages) filter (where g.is_quarter), 0)::int4 as messages,
      ${listOf(usedColumns, 'g.model, g.prices, g.kinds', `g.messages > 0 and not g.is_quarter and (g.kinds <> 0 or g.model <> '')`)} as used,
      ${listOf(['g.slot', 'g.messages'], 'g.slot', 'g.messages > 0 and g.is_quarter')} as quarters
    from (
      select r.slot, r.model, r.prices, r.kinds, grouping(r.slot) = 0 as is_quarter, sum(r.messages) as messages,
        ${eachSum((name) => `sum(r.${name}) as ${name}`)}
      from (
        select slot, model, prices, kinds, messages, ${eachSum((name) => name)} from usage where trace_id = ${trace} and ${within}
        union all
        select slot, model, prices, kinds, -1, ${eachSum((name) => `-${name}`)} from ${copies}
      ) r group by grouping sets ((r.slot), (r.model, r.prices, r.kinds))
    ) g
  ) used_in
  cross join lateral (
    select ${listOf(['c.tool', 'c.messages'], 'c.tool', 'c.messages > 0')} as tools from (
      select r.tool, sum(r.messages) as messages from (
        select tool, messages from usage_tools where trace_id = ${trace} and ${within}
        union all
        select called.tool, -1 from (select c.tools from ${copies}) c
        cross join lateral (select distinct e::text as tool from json_array_elements(c.tools) e) called
      ) r group by 1
    ) c
  ) called_in
  cross join lateral (select used_in.*, called_in.tools) d`
}
