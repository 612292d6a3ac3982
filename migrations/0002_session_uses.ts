import { type Kysely, sql } from 'kysely'

/** When a session was last used (ms): operational data, written behind, no event. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  await sql`
    create table tracebook.session_uses (session_id uuid primary key, last_used_at int8 not null)
    with (fillfactor = 50)`.execute(db)
}
