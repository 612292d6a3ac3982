import { MOST_CHILDREN } from '../../base/sub-agents.ts'
import { listedBy } from '../../tables/main.ts'

/** Who reads a list: anybody, a member of the namespaces of all its traces, or the user of a parameter such as `$5`. */
export type ListReader = 'anybody' | 'member' | `$${number}`

/** SQL: whether the reader may read the trace of an alias. */
const mayRead = (alias: string, reader: ListReader): string => {
  if (reader === 'member') return 'true'
  const isPublic = `${alias}.visibility = 'public'`
  if (reader === 'anybody') return isPublic
  const member = `select from members m where m.namespace_id = ${alias}.namespace_id and m.user_id = ${reader}`
  return `(${isPublic} or exists (${member}))`
}

/** SQL: whether the trace of an alias was started by a call of its parent: a fork and a session that was resumed were not. */
export const isSubAgent = (alias: string): string =>
  `${alias}.parent_key is not null and coalesce(${alias}.parent_kind::text, '"call"') = '"call"'`

/**
 * SQL: whether a trace stands by itself in a list: it is no sub-agent's of a trace that the reader may read. `table` is that of the list, or
 * the alias `t` of a row of `traces`. The trace, where the table lacks its parent, and the parent are looked up one by one, so that no plan reads all
 * traces for them; of `is null` plans would expect that it hardly ever holds. With 12 sub-agents a trace, a page of 51 by start takes 5 ms instead of 2 ms.
 */
export const isRoot = (table: 'feed' | 'traces' | 't', reader: ListReader): string => {
  const [trace, from] =
    table === 'feed' ? ['s', 'from (select * from traces r where r.id = feed.id limit 1) s'] : [table, '']
  return `not coalesce((
  select true ${from} where ${isSubAgent(trace)} and (
    select 1 from (select * from traces r where r.key = ${trace}.parent_key and r.namespace_id = ${trace}.namespace_id limit 1) p
    where p.id <> ${trace}.id and ${mayRead('p', reader)}
  ) is not null
), false)`
}

/** SQL for the column with the number of sub-agents of the trace `t` that the reader may read. `is true` keeps plans from an index of namespaces. */
export const childCount = (reader: ListReader): string => {
  const hash = reader === 'anybody' ? listedBy.publicParent : listedBy.parent
  return `(
  select count(*) from (
    select 1 from traces k where ${hash('k.namespace_id')} = ${hash('t.namespace_id')} and (k.namespace_id = t.namespace_id) is true
      and k.parent_key = t.key and k.id <> t.id and ${isSubAgent('k')} and ${mayRead('k', reader)}
    order by k.created_at, k.id limit ${MOST_CHILDREN}
  ) children
) as child_count`
}
