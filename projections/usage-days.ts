import type { WriteStatement } from '../src/eventstore/engine/projection.ts'
import { int8s, uuids } from '../src/eventstore/postgres/arrays.ts'
import { DAY_QUARTERS } from '../src/tables/usage.ts'
import { dayIn, dayOf, ofTrace } from '../src/tables/usage-days.ts'

const { floor } = Math
const fields = Object.keys(ofTrace)
const sums = ['first', 'last', 'messages', 'used', 'quarters', 'tools']

const statement = `
  insert into usage_days (trace_id, namespace_id, day, stale, ${fields}, ${sums})
  select u.trace_id, t.namespace_id, u.day, false, ${Object.values(ofTrace)}, ${sums.map((name) => `d.${name}`)}
  from (
    select * from unnest($1::uuid[], $2::int8[]) p (trace_id, day)
    union
    select r.trace_id, ${dayOf('r.slot')} from usage r where r.trace_id = any($3::uuid[])
    union
    select r.trace_id, r.day from usage_days r where r.stale
  ) u
  cross join lateral (select * from traces r where r.id = u.trace_id limit 1) t
  ${dayIn('u.trace_id', `u.day * ${DAY_QUARTERS}`, `(u.day + 1) * ${DAY_QUARTERS}`)}
  where d.first is not null
  on conflict (trace_id, day) do update set stale = false, ${sums.map((name) => `${name} = excluded.${name}`)}`

/** A quarter of an hour of a trace. */
type Slot = { readonly traceId: string; readonly slot: number }

/** Makes the rows of days anew: those with these quarters of an hour, all days of some traces, and what is marked as stale. */
export const makeDays = (slots: Iterable<Slot>, traces: readonly string[], write: WriteStatement): void => {
  const days = new Map<string, { readonly traceId: string; readonly day: number }>()
  for (const { traceId, slot } of slots) {
    const day = floor(slot / DAY_QUARTERS)
    days.set(`${traceId}/${day}`, { traceId, day })
  }
  const all = [...days.values()]
  write('usage-days-make', statement, [
    uuids(all.map(({ traceId }) => traceId)),
    int8s(all.map(({ day }) => day)),
    uuids(traces),
  ])
}

/** Removes the rows of days of traces on which no messages are left. */
export const removeEmptyDays = (traces: readonly string[], write: WriteStatement): void =>
  write(
    'usage-days-remove',
    `delete from usage_days d where d.trace_id = any($1::uuid[]) and not exists (
       select from usage r
       where r.trace_id = d.trace_id and r.slot >= d.day * ${DAY_QUARTERS} and r.slot < (d.day + 1) * ${DAY_QUARTERS}
     )`,
    [uuids(traces)],
  )

/** Writes what traces are into their rows. */
export const describeDays = (traces: readonly string[], write: WriteStatement): void =>
  write(
    'usage-days-describe',
    `update usage_days d set ${Object.entries(ofTrace).map(([column, sql]) => `${column} = ${sql}`)}
     from unnest($1::uuid[]) u (id) cross join lateral (select * from traces r where r.id = u.id limit 1) t
     where d.trace_id = t.id`,
    [uuids(traces)],
  )
