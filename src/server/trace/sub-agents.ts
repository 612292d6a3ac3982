import { listedBy } from '../../tables/main.ts'

/** Who reads a list: anybody, a member of the namespaces of all its traces, or the user of a parameter such as `$5`. */
export type ListReader = 'anybody' | 'member' | `$${number}`

/** At most this many sub-agents of a trace are counted. */
export const MOST_CHILDREN = 100

/** SQL: whether the reader may read the trace of an alias. */
const mayRead = (alias: string, reader: ListReader): string => {
  if (reader === 'member') return 'true'
  const isPublic = `${alias}.visibility = 'public'`
  if (reader === 'anybody') return isPublic
  const member = `select from members m where m.namespace_id = ${alias}.namespace_id and m.user_id = ${reader}`
  return `(${isPublic} or exists (${member}))`
}

/** SQL: whether the trace of an alias was started by a call of its parent: a fork and a session that was resumed were not. */
const isSubAgent = (alias: string): string =>
  `${alias}.parent_key is not null and coalesce(${alias}.parent_kind::text, '"call"') = '"call"'`

/**
 * SQL: whether a trace stands by itself in a list: it is no sub-agent's of a trace that the reader may read. `id` is the expression of its id. It and its
 * parent are looked up one by one, so that no plan reads all traces for them; of `is null` plans would expect that it hardly ever holds.
 */
export const isRoot = (id: string, reader: ListReader): string => `not coalesce((
  select true from (select * from traces r where r.id = ${id} limit 1) s where ${isSubAgent('s')} and (
    select 1 from (select * from traces r where r.key = s.parent_key and r.namespace_id = s.namespace_id limit 1) p
    where p.id <> s.id and ${mayRead('p', reader)}
  ) is not null
), false)`

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
