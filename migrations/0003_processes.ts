import { type Kysely, sql } from 'kysely'

/** Checkpoints of process managers, and the list of erasures. A rebuild of the read models does not touch them. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  await sql`create table tracebook.processes (name text primary key, position int8 not null)`.execute(db)
  await sql`
    create table tracebook.erasures (
      stream text primary key, before_revision int8 not null, position int8 not null, requested_at int8 not null
    )`.execute(db)
}
