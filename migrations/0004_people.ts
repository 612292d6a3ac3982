import { type Kysely, sql } from 'kysely'

/** Operational data, not made from events: counters of rate limits, handshakes of sign-ins, bytes of avatars. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  // Not int8: the limiter needs numbers, and the driver returns int8 as bigint. Unlogged: a crash may lose the counts.
  await sql`
    create unlogged table tracebook.rate_limits (key text primary key, points int4 not null, expire float8)
    with (fillfactor = 50)`.execute(db)
  await sql`
    create table tracebook.handshakes (
      state_hash text primary key, salt text not null, wish json not null, expires int8 not null,
      claimed_at int8, exchange_hash text, identity json
    )`.execute(db)
  await sql`create index handshakes_expires on tracebook.handshakes (expires)`.execute(db)
  await sql`
    create table tracebook.avatars (
      namespace_id uuid not null, storage_id text not null, type text not null, bytes bytea not null, put_at int8 not null,
      primary key (namespace_id, storage_id)
    )`.execute(db)
}
