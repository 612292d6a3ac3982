import { segmentsOfNames, segmentsStatement } from '../../tables/search.ts'
import { isId } from '../../base/ids.ts'
import type { Role } from '../../contract/namespaces.ts'
import { idOfSlug } from '../namespace/queries.ts'
import { comparable } from '../../base/folded.ts'
import type { Condition, Field, Query } from './query.ts'
import type { ReadRows } from './reads.ts'

// The time of the oldest event whose text is not in the index yet, of traces that the user may read.
const waitingSince = `
  select min(w.since) from (select trace_id, min(recorded_at) as since from search_backlog group by trace_id) w
  cross join lateral (select r.namespace_id, r.visibility from traces r where r.id = w.trace_id limit 1) t
  where t.visibility = 'public' or t.namespace_id in (select o.namespace_id from members o where o.user_id = $1)`

const scopeStatement = `
  select position, array(select s.name::text from (${segmentsStatement}) s) as segments,
    (select count from search_portions) as portions, (${waitingSince}) as "waitingSince", array_remove(array_agg(m.namespace_id), null) as namespaces, array_agg(m.role) as roles
  from reached left join members m on m.user_id = $1 group by position`

/**
 * What a search needs before it asks the index, in one statement: the position up to which the index has the log, and how many portions of its
 * backlog; the role of the user in each namespace of which the user is a member; the segments, the newest first; and since
 * when, in milliseconds, a text waits that the user may read.
 */
export const scopeOf = async (readRows: ReadRows, userId: string | undefined) => {
  type Scope = {
    position: bigint
    portions: number
    waitingSince: bigint | null
    namespaces: string[]
    roles: Role[]
    segments: string[]
  }
  const [row] = await readRows<Scope>('search-scope', scopeStatement, [userId ?? null])
  const { position, portions, waitingSince: since, namespaces, roles, segments } = row!
  return {
    ...{ position, portions, waitingSince: since === null ? Infinity : Number(since) },
    roles: new Map(namespaces.map((id, i) => [id, roles[i]!])),
    segments: segmentsOfNames(segments),
  }
}

/** The most people who are compared with a name. */
const MOST_PEOPLE = 10_000

const peopleStatement = `
  select u.id, u.display_name from unnest($1::uuid[]) n (id)
  cross join lateral (select r.user_id from members r where r.namespace_id = n.id limit ${MOST_PEOPLE}) m
  cross join lateral (select r.id, r.display_name from users r where r.id = m.user_id limit 1) u
  limit ${MOST_PEOPLE}`

type Person = { id: string; display_name: string | null }

const idOfNamespace = (slug: string): string => {
  try {
    return idOfSlug(slug)
  } catch {
    return slug // no namespace has such an id
  }
}

const mapped = ({ any, none }: Condition, change: (value: string) => readonly string[]): Condition => {
  // A name that nobody has stays as it is: it then matches nothing, while a missing condition would match everything.
  const changed = any.map((value) => [value, change(value)] as const)
  return { any: changed.flatMap(([value, ids]) => (ids.length > 0 ? ids : [value])), none: none.flatMap(change) }
}

/** Replaces slugs by the ids of namespaces, and names by those of users who share a namespace with the caller. */
export const resolved = async (readRows: ReadRows, query: Query, namespaces: readonly string[]): Promise<Query> => {
  const conditions = new Map<Field, Condition>(query.conditions)
  const [namespace, author] = [conditions.get('namespace'), conditions.get('author')]
  if (namespace)
    conditions.set(
      'namespace',
      mapped(namespace, (slug) => [idOfNamespace(slug)]),
    )
  if (author) {
    const isNamed = [...author.any, ...author.none].some((value) => !isId(value))
    const people =
      isNamed && namespaces.length > 0 ? await readRows<Person>('search-people', peopleStatement, [namespaces]) : []
    const named = (name: string) =>
      people
        .filter(
          ({ display_name: other }) => other !== null && comparable(JSON.parse(other) as string) === comparable(name),
        )
        .map(({ id }) => id)
    conditions.set(
      'author',
      mapped(author, (value) => (isId(value) ? [value] : named(value))),
    )
  }
  return { ...query, conditions }
}
