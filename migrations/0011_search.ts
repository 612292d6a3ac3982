import { type Kysely, sql } from 'kysely'

/** The key of the hashes that the search index has instead of words. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create table tracebook.search_key (one bool primary key default true check (one), key bytea not null)
  `.execute(db)
  // Random bits of two UUIDs: 244 of them.
  await sql`
    insert into tracebook.search_key (key) values (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
  `.execute(db)
}
