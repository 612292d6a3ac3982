import { type Checkpoint, type Client, checkpointTables, readCheckpoint } from './checkpoint.ts'
import { type Group, nextSchemaOf, parseSchema, schemaOf } from './group.ts'
import { quarantineTables } from './quarantine.ts'

/** Creates a schema with empty tables unless it exists, and returns its checkpoint. */
export const ensureSchema = async (client: Client, group: Group, schema = schemaOf(group)): Promise<Checkpoint> => {
  const { rows } = await client.query(`select to_regclass('${schema}.checkpoint') is not null as exists`)
  if (!rows[0].exists) await createSchema(client, group, schema)
  return readCheckpoint(client, schema)
}

const createSchema = async (client: Client, group: Group, schema: string) => {
  const tables = group.projections.map(({ tables }) => tables).join('\n')
  await client.query(`
    begin;
    create schema if not exists ${schema};
    set local search_path = ${schema};
    ${checkpointTables}
    ${quarantineTables}
    ${tables}
    commit;`)
}

/**
 * SQL that analyzes the tables that have rows. Of a table that was empty when it was analyzed, PostgreSQL expects no rows: statements that are planned
 * before it is analyzed again would read all of it for each row that they look up.
 */
const analyzeFilled = (schema: string) => `
  do $$
  declare filled regclass;
  begin
    for filled in
      select oid from pg_class where relnamespace = '${schema}'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
    loop
      execute format('analyze %s', filled);
    end loop;
  end $$`

/** Creates the secondary indexes, and marks the schema as ready for queries. */
export const finishSchema = async (client: Client, group: Group, schema = schemaOf(group)): Promise<void> => {
  const indexes = group.projections.map(({ indexes }) => indexes).join('\n')
  await client.query(`
    begin;
    set local search_path = ${schema};
    set local maintenance_work_mem = '256MB';
    ${indexes}
    update checkpoint set ready = true;
    commit;`)
  await client.query(`set search_path = ${schema}; ${analyzeFilled(schema)}`).catch(() => {})
}

const DROP_LOCK_MS = 500

/**
 * The names of a schema's advisory locks: for its runner, for a rebuild, for changes to its rows or its name, and for the
 * processes that use it.
 */
export const locks = {
  runner: (schema: string) => `tracebook runner ${schema}`,
  rebuild: (schema: string) => `tracebook rebuild ${schema}`,
  swap: (schema: string) => `tracebook swap ${schema}`,
  use: (schema: string) => `tracebook uses ${schema}`,
}

/** Takes the lock that keeps this schema from being dropped, for as long as the connection lives. */
export const holdUseLock = (client: Client, schema: string): Promise<unknown> =>
  client.query('select pg_advisory_lock_shared(hashtext($1))', [locks.use(schema)])

/** All schemas of a group, of all versions, including unfinished ones. */
export const schemasOf = async (client: Client, group: Pick<Group, 'name'>): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, 'rm_') order by nspname`,
  )
  return rows.map(({ name }) => name).filter((name) => parseSchema(group, name) !== undefined)
}

type Version = Pick<Group, 'name' | 'version'>

/** The lock that a process holds while it needs this schema; undefined for a schema that must not be dropped. */
const lockOf = (group: Version, schema: string): string | undefined => {
  const { version, serves } = parseSchema(group, schema)!
  if (version < group.version) return locks.use(schemaOf({ ...group, version }))
  return version === group.version && !serves ? locks.rebuild(schemaOf(group)) : undefined
}

/** Drops a schema unless another session holds `lock`, and returns whether it is gone. @throws if a query holds it for 500 ms */
export const dropUnlessLocked = async (client: Client, schema: string, lock: string): Promise<boolean> => {
  await client.query(`
    do $$ begin
      perform set_config('lock_timeout', '${DROP_LOCK_MS}', true);
      if pg_try_advisory_xact_lock(hashtext('${lock}')) then drop schema if exists ${schema} cascade; end if;
    end $$`)
  const { rows } = await client.query(`select to_regnamespace('${schema}') is null as gone`)
  return rows[0].gone as boolean
}

/** The schemas of a group besides the one in use: of rebuilds, and of other versions. */
export const schemasBeside = async (client: Client, group: Group): Promise<string[]> =>
  (await schemasOf(client, group)).filter((schema) => schema !== schemaOf(group))

/**
 * Drops the schemas that no process needs any more, and returns their names: those of older versions, those that rebuilds have replaced, and
 * those of killed rebuilds.
 * @throws if a query, such as a backup, delays a drop; the caller tries again later
 */
export const dropUnused = async (client: Client, group: Group): Promise<string[]> => {
  const dropped: string[] = []
  for (const schema of await schemasOf(client, group)) {
    const lock = lockOf(group, schema)
    if (lock && (await dropUnlessLocked(client, schema, lock))) dropped.push(schema)
  }
  return dropped
}

/** The state of a group's read models in the database, whichever process builds them. `position` is the position that a build has reached. */
export type BuildState =
  /** A projector builds the first read models, which cannot be queried yet. */
  | { readonly is: 'building'; readonly position: bigint }
  /** There are no read models that can be queried, and no process builds any. */
  | { readonly is: 'missing' }
  /** Read models are in use, and a process builds new ones beside them. */
  | { readonly is: 'rebuilding'; readonly position: bigint }
  | { readonly is: 'serving' }

const isLockHeld = (parameter: string) => `
  exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
    and ((classid::int8 << 32) | objid::int8) = hashtext(${parameter})::int8)`

const selectBuildState = `
  select to_regclass($1) is not null as serves, to_regclass($2) is not null as next,
    ${isLockHeld('$3')} as runs, ${isLockHeld('$4')} as rebuilds`

type BuildRow = { serves: boolean; next: boolean; runs: boolean; rebuilds: boolean }

/** Asks the database. A schema counts as being built only if a process holds its lock, because a killed process may leave one. */
export const readBuildState = async (client: Client, group: Group): Promise<BuildState> => {
  const [schema, side] = [schemaOf(group), nextSchemaOf(group)]
  const names = [`${schema}.checkpoint`, `${side}.checkpoint`, locks.runner(schema), locks.rebuild(schema)]
  const { serves, next, runs, rebuilds } = (await client.query<BuildRow>(selectBuildState, names)).rows[0]!
  const { position, ready } = serves ? await readCheckpoint(client, schema) : { position: 0n, ready: false }
  if (!ready) return runs ? { is: 'building', position } : { is: 'missing' }
  if (!rebuilds) return { is: 'serving' }
  return { is: 'rebuilding', position: next ? (await readCheckpoint(client, side)).position : 0n }
}
