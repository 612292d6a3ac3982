import type pg from 'pg'
import type { Projection } from './projection.ts'

/** The read models that decisions and answers combine: one version, one schema, one checkpoint, one transaction. */
export type Group = { readonly version: number; readonly projections: readonly Projection[] }

export const schemaOf = ({ version }: Group): string => `rm_${version}`

type Client = Pick<pg.ClientBase, 'query'>

// The checkpoint moves by compare-and-set: whoever moves it from anywhere else is rolled back.
const checkpoint = `
  create table checkpoint (one bool primary key default true check (one), position int8 not null, ready bool not null);
  insert into checkpoint (position, ready) values (0, false);
  create function advance(seen int8, next int8) returns void language plpgsql as $$
  begin
    update checkpoint set position = next where position = seen;
    if not found then raise exception 'the checkpoint is not at %', seen using errcode = 'TB001'; end if;
  end $$;`

/** The SQLSTATE of a checkpoint that somebody else has moved. */
export const CHECKPOINT_MOVED = 'TB001'

/** How far read models have come; `stopped` when they stay there, at an event that cannot be applied. */
export type Checkpoint = { readonly position: bigint; readonly ready: boolean; readonly stopped: boolean }

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
    ${checkpoint}
    ${tables}
    commit;`)
}

const stopOf = (schema: string) => `stopped ${schema}`

export const readCheckpoint = async (client: Client, schema: string): Promise<Checkpoint> => {
  const text = `
    select position, ready, exists (select from tracebook.processes p where p.name = $1 and p.position = c.position) as stopped
    from ${schema}.checkpoint c`
  return (await client.query<Checkpoint>(text, [stopOf(schema)])).rows[0]!
}

/** Tells all nodes that the read models stay where they are: reads need not wait for more. */
export const noteStop = (client: Client, schema: string): Promise<unknown> =>
  client.query(
    `insert into tracebook.processes select $1, position from ${schema}.checkpoint
     on conflict (name) do update set position = excluded.position`,
    [stopOf(schema)],
  )

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

const useOf = (schema: string) => `hashtext('tracebook uses ${schema}')`

/** Says for as long as the connection lives that a process reads or fills this schema. */
export const noteUse = (client: Client, schema: string): Promise<unknown> =>
  client.query(`select pg_advisory_lock_shared(${useOf(schema)})`)

/**
 * Drops the schemas of older versions that no process uses any more, also unfinished rebuilds. Returns their names.
 * Whoever still reads one (a backup, a slow list) is not waited for: the next time will do.
 */
export const dropUnused = async (client: Client, group: Group): Promise<string[]> => {
  const { rows } = await client.query<{ name: string; base: string }>(
    `select nspname as name, substring(nspname from '^rm_\\d+') as base from pg_namespace
     where nspname ~ '^rm_\\d{1,9}(_next)?$' and substring(nspname from '\\d+')::int < $1`,
    [group.version],
  )
  const dropped: string[] = []
  for (const { name, base } of rows) {
    await client.query(`
      do $$ begin
        perform set_config('lock_timeout', '${DROP_LOCK_MS}', true);
        if pg_try_advisory_xact_lock(${useOf(base)}) then drop schema ${name} cascade; end if;
      end $$`)
    const { rows: left } = await client.query(`select to_regnamespace('${name}') is null as gone`)
    if (left[0].gone) dropped.push(name)
  }
  return dropped
}
