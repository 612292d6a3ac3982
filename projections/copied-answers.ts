import type { WriteStatement } from '../src/eventstore/engine/projection.ts'
import { int8s, uuids } from '../src/eventstore/postgres/arrays.ts'
import { eachSum, usageIn } from '../src/tables/usage.ts'
import { markStale } from '../src/tables/usage-days.ts'

/*
 * Which answers of a provider several traces of a namespace have, and for which of these they count. It is found out anew for all copies of an answer
 * whenever one of them comes, changes or goes, or is of another agent.
 */

const copied = ['slot', 'ordinal', 'tools', 'model', 'prices', 'kinds', ...eachSum((name) => name).split(', ')]
const columns = ['namespace_id', 'answer', 'trace_id', 'created_at', 'elsewhere', ...copied].join(', ')

/** SQL for a message `m` as a row of `copied_answers`, with `usageIn`. */
const copyOf = (m: string) =>
  ['namespace_id', 'answer', 'trace_id', 'created_at', 'elsewhere']
    .map((name) => `${m}.${name}`)
    .concat(copied.map((name) => (name === 'ordinal' || name === 'tools' ? `${m}.${name}` : `used.${name}`)))
    .join(', ')

/** SQL for whether a copy `c` of an answer counts for another trace than its own `t`: of one agent's copies all do but that which came first. */
const ELSEWHERE = `row_number() over (
  partition by c.answer, t.agent_id::text order by c.created_at, t.created_at, c.trace_id
) > 1`

/**
 * SQL that lists the answers of new messages `m` of the traces $1 that another trace of their namespace has as well, for all traces that have
 * them. Each answer is looked up: a join might read all answers.
 */
export const listCopies = `
  shared as materialized (
    select distinct m.namespace_id, m.answer from m where m.answer is not null and (
      select true from messages r
      where r.answer = m.answer and r.trace_id <> m.trace_id
        and (select t.incarnation from traces t where t.id = r.trace_id limit 1) = r.incarnation
      limit 1
    )
  ), copies as (
    insert into copied_answers (${columns})
    select ${copyOf('r')} from (
      select t.namespace_id, c.*, ${ELSEWHERE} as elsewhere
      from shared s
      cross join lateral (select * from messages o where o.answer = s.answer offset 0) c
      cross join lateral (select * from traces o where o.id = c.trace_id and o.incarnation = c.incarnation limit 1) t
    ) r ${usageIn('r')}
    order by 1, 2, 3
    on conflict (namespace_id, answer, trace_id) do update set
      ${['elsewhere', ...copied].map((name) => `${name} = excluded.${name}`).join(', ')}
      where copied_answers.elsewhere <> excluded.elsewhere or copied_answers.trace_id = any($1::uuid[])
    returning trace_id, slot
  ), copies_marked as (${markStale('select trace_id, slot from copies')}
  )`

/** SQL for the copies of answers `a` of which `isLeft` holds: how many there are of each, and whether they count elsewhere. */
const judged = (answers: string, isLeft: string) => `
  select c.place, c.trace_id, c.slot, count(*) over (partition by c.answer) as holders, c.elsewhere as before,
    ${ELSEWHERE} as elsewhere
  from (${answers}) a
  cross join lateral (
    select o.ctid as place, o.* from copied_answers o
    where o.namespace_id = a.namespace_id and o.answer = a.answer and ${isLeft} offset 0
  ) c
  cross join lateral (select * from traces r where r.id = c.trace_id limit 1) t`

/** SQL that marks the days of judged copies that count where they did not, or the other way round. */
const markJudged = (judged: string) => markStale(`select trace_id, slot from ${judged} where before <> elsewhere`)

/** SQL that judges the copies that are left of the answers that were `gone`; one that is left alone is no copy any more. */
const judgeLeft = (isLeft: string) => `
  left_over as materialized (${judged('select distinct namespace_id, answer from gone', isLeft)}),
  single as (delete from copied_answers c using left_over l where c.ctid = l.place and l.holders = 1),
  settled as (
    update copied_answers c set elsewhere = l.elsewhere from left_over l
    where c.ctid = l.place and l.holders > 1 and l.before <> l.elsewhere
  )
  ${markJudged('left_over')}`

/** Removes all answers of traces from the list. */
export const removeCopies = (ids: readonly string[], write: WriteStatement): void =>
  write(
    'usage-copies-remove',
    `with gone as (delete from copied_answers where trace_id = any($1::uuid[]) returning namespace_id, answer),
     ${judgeLeft('o.trace_id <> all($1::uuid[])')}`,
    [uuids(ids)],
  )

/** An answer that a trace does not have any more. */
export type Lost = { readonly traceId: string; readonly answer: bigint }

/** Removes some answers of traces from the list. */
export const removeLost = (lost: readonly Lost[], write: WriteStatement): void =>
  write(
    'usage-copies-lost',
    `with found as materialized (
       select f.ctid, f.namespace_id, f.answer, f.trace_id from unnest($1::uuid[], $2::int8[]) u (trace_id, answer)
       cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
       cross join lateral (
         select r.ctid, r.* from copied_answers r
         where r.namespace_id = t.namespace_id and r.answer = u.answer and r.trace_id = u.trace_id limit 1
       ) f
     ), gone as (
       delete from copied_answers c using found where c.ctid = found.ctid returning c.namespace_id, c.answer
     ), ${judgeLeft('not exists (select from found f where f.answer = o.answer and f.trace_id = o.trace_id)')}`,
    [uuids(lost.map(({ traceId }) => traceId)), int8s(lost.map(({ answer }) => answer))],
  )

/** Judges the copies of all answers of traces, whose agent has changed. */
export const judgeAgain = (ids: readonly string[], write: WriteStatement): void =>
  write(
    'usage-copies-judge',
    `with found as materialized (
       ${judged('select distinct namespace_id, answer from copied_answers where trace_id = any($1::uuid[])', 'true')}
     ), settled as (
       update copied_answers c set elsewhere = f.elsewhere from found f where c.ctid = f.place and f.before <> f.elsewhere
     )
     ${markJudged('found')}`,
    [uuids(ids)],
  )
