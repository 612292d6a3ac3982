import { type Client, readCheckpoint } from './checkpoint.ts'
import { type Group, nextSchemaOf, schemaOf } from './group.ts'
import { locks } from './schema.ts'

/** What any process, which may be another one, does about the read models of a group; positions are those reached. */
export type BuildState =
  /** A projector builds them, and none can serve yet. */
  | { readonly is: 'building'; readonly position: bigint }
  /** None can serve, and no process builds any. */
  | { readonly is: 'missing' }
  /** They serve, and a process builds new ones beside them. */
  | { readonly is: 'rebuilding'; readonly position: bigint }
  | { readonly is: 'serving' }

const isLockHeld = (parameter: string) => `
  exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
    and ((classid::int8 << 32) | objid::int8) = hashtext(${parameter})::int8)`

const select = `
  select to_regclass($1) is not null as serves, to_regclass($2) is not null as next,
    ${isLockHeld('$3')} as runs, ${isLockHeld('$4')} as rebuilds`

type Row = { serves: boolean; next: boolean; runs: boolean; rebuilds: boolean }

/** Asks the database. A schema is being built only if a process holds its lock; a killed process leaves one without. */
export const readBuildState = async (client: Client, group: Group): Promise<BuildState> => {
  const [schema, side] = [schemaOf(group), nextSchemaOf(group)]
  const names = [`${schema}.checkpoint`, `${side}.checkpoint`, locks.runner(schema), locks.rebuild(schema)]
  const { serves, next, runs, rebuilds } = (await client.query<Row>(select, names)).rows[0]!
  const { position, ready } = serves ? await readCheckpoint(client, schema) : { position: 0n, ready: false }
  if (!ready) return runs ? { is: 'building', position } : { is: 'missing' }
  if (!rebuilds) return { is: 'serving' }
  return { is: 'rebuilding', position: next ? (await readCheckpoint(client, side)).position : 0n }
}
