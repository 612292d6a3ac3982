import { mainGroup } from '../../../projections/index.ts'
import type { Client } from '../../engine/checkpoint.ts'
import { schemaOf } from '../../engine/group.ts'
import { isId } from '../../base/ids.ts'
import { uuids } from '../../postgres/arrays.ts'
import { SqlState, hasSqlState } from '../../postgres/sql-state.ts'

/** Names of users and namespaces as they are now, by id. Those that are not known are missing. */
export type Names = { readonly users: ReadonlyMap<string, string>; readonly slugs: ReadonlyMap<string, string> }

const schema = schemaOf(mainGroup)

/** A service that has never run with this version has no read models of it: then there are no names. */
const rowsOf = async <Row extends object>(client: Client, text: string, ids: Iterable<string>): Promise<Row[]> => {
  try {
    return (await client.query<Row>({ text, values: [uuids([...new Set(ids)].filter(isId))] })).rows
  } catch (error) {
    if (hasSqlState(error, SqlState.undefinedTable)) return []
    throw error
  }
}

export const readNames = async (
  client: Client,
  { users, namespaces }: { readonly users: Iterable<string>; readonly namespaces: Iterable<string> },
): Promise<Names> => {
  const people = await rowsOf<{ id: string; name: string | null }>(
    client,
    `select id, display_name as name from ${schema}.users where id = any($1::uuid[])`,
    users,
  )
  const spaces = await rowsOf<{ id: string; slug: string }>(
    client,
    `select id, slug from ${schema}.namespaces where id = any($1::uuid[])`,
    namespaces,
  )
  return {
    users: new Map(people.flatMap(({ id, name }) => (name === null ? [] : [[id, JSON.parse(name) as string]]))),
    slugs: new Map(spaces.map(({ id, slug }) => [id, slug])),
  }
}
