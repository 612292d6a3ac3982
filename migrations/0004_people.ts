import { type Kysely, sql } from 'kysely'

/** Operational data of people's sides: counts of limits, handshakes of sign-ins, bytes of avatars. No events. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)
  // What the limiter calculates with must come back as a number: an int8 would be a bigint. Unlogged: a crash forgives.
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
