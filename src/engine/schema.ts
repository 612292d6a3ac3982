import { type Checkpoint, type Client, checkpointTables, readCheckpoint } from './checkpoint.ts'
import { type Group, parseSchema, schemaOf } from './group.ts'
import { quarantineTables } from './quarantine.ts'

/** Makes a schema with empty tables unless it is there, and says how far it has come. */
export const ensureSchema = async (client: Client, group: Group, schema = schemaOf(group)): Promise<Checkpoint> => {
  const { rows } = await client.query(`select to_regclass('${schema}.checkpoint') is not null as there`)
  if (!rows[0].there) await createSchema(client, group, schema)
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

/** Makes the secondary indexes; from then on the schema may serve. */
export const finishSchema = async (client: Client, group: Group, schema = schemaOf(group)): Promise<void> => {
  const indexes = group.projections.map(({ indexes }) => indexes).join('\n')
  await client.query(`
    begin;
    set local search_path = ${schema};
    set local maintenance_work_mem = '256MB';
    ${indexes}
    update checkpoint set ready = true;
    commit;`)
  await client.query(`set search_path = ${schema}; analyze`).catch(() => {})
}

const DROP_LOCK_MS = 500

/** The names of the locks around a schema. */
export const locks = {
  runner: (schema: string) => `tracebook runner ${schema}`,
  rebuild: (schema: string) => `tracebook rebuild ${schema}`,
  swap: (schema: string) => `tracebook swap ${schema}`,
  use: (schema: string) => `tracebook uses ${schema}`,
}

/** Says for as long as the connection lives that a process reads or fills this schema. */
export const holdUseLock = (client: Client, schema: string): Promise<unknown> =>
  client.query('select pg_advisory_lock_shared(hashtext($1))', [locks.use(schema)])

/** The schemas of a group that are there, of all versions, also unfinished ones. */
export const schemasOf = async (client: Client, group: Pick<Group, 'name'>): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, 'rm_') order by nspname`,
  )
  return rows.map(({ name }) => name).filter((name) => parseSchema(group, name) !== undefined)
}

/** Which lock says that a schema is still needed: nothing is dropped while another process holds it. */
const lockOf = (group: Group, schema: string): string | undefined => {
  const { version, serves } = parseSchema(group, schema)!
  if (version < group.version) return locks.use(schemaOf({ ...group, version }))
  return version === group.version && !serves ? locks.rebuild(schemaOf(group)) : undefined
}

/** Drops one schema unless its guard is held. @throws when a reader holds it up for half a second */
export const dropUnlessLocked = async (client: Client, schema: string, guard: string): Promise<boolean> => {
  await client.query(`
    do $$ begin
      perform set_config('lock_timeout', '${DROP_LOCK_MS}', true);
      if pg_try_advisory_xact_lock(hashtext('${guard}')) then drop schema ${schema} cascade; end if;
    end $$`)
  const { rows } = await client.query(`select to_regnamespace('${schema}') is null as gone`)
  return rows[0].gone as boolean
}

/**
 * Drops what nothing needs any more, and returns the names: the schemas of older versions that no process uses, what a
 * rebuild has replaced, and what one that was killed has left behind. A reader (a backup, a slow list) is not waited
 * for: the next time will do.
 */
export const dropUnused = async (client: Client, group: Group): Promise<string[]> => {
  const dropped: string[] = []
  for (const schema of await schemasOf(client, group)) {
    const guard = lockOf(group, schema)
    if (guard && (await dropUnlessLocked(client, schema, guard))) dropped.push(schema)
  }
  return dropped
}
