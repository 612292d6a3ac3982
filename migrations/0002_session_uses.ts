import { type Kysely, sql } from 'kysely'

/** When a session was last used (milliseconds): operational data that is written with a delay, not made from events. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  await sql`
    create table tracebook.session_uses (session_id uuid primary key, last_used_at int8 not null)
    with (fillfactor = 50)`.execute(db)
}
