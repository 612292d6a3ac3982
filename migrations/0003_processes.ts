import { type Kysely, sql } from 'kysely'

/** Checkpoints of the processes that follow the log, and what is still to be erased: never rebuilt. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  await sql`create table tracebook.processes (name text primary key, position int8 not null)`.execute(db)
  await sql`
    create table tracebook.erasures (
      stream text primary key, before_revision int8 not null, position int8 not null, requested_at int8 not null
    )`.execute(db)
}
