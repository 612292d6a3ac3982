import { type Kysely, sql } from 'kysely'

/**
 * The Merkle tree over the log: a leaf for each event, the roots of full tiles, and the checkpoints that were signed. Never
 * made anew and never changed: published checkpoints stand for these hashes.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)

  // Leaves in log order. Position and revision are those of the log that is followed; `lost` is the epoch in which the log no
  // longer held the event. No index on streams: they are looked for in a check only.
  await sql`
    create table tracebook.leaves (
      index int8 primary key, event_id uuid not null, position int8 not null, stream text collate "C" not null,
      revision int8 not null, hash bytea not null, lost uuid
    )`.execute(db)
  await sql`alter table tracebook.leaves alter hash set storage plain, alter stream set storage plain`.execute(db)
  await sql`create index leaves_event on tracebook.leaves (event_id)`.execute(db)

  // Level 1 has the root of each 256 leaves, level 2 that of each 256 hashes of level 1, and so on.
  await sql`
    create table tracebook.subtrees (level int2 not null, index int8 not null, hash bytea not null, primary key (level, index))
  `.execute(db)

  // `log` is the id of the log that the positions belong to. While leaves are matched with a log anew: how many there were,
  // up to which position, and the last leaf that has been found. `refused` says why the tree is not continued.
  await sql`
    create table tracebook.tree (
      one bool primary key default true check (one), size int8 not null, log uuid, walk_size int8, walk_until int8,
      walk_matched int8, refused text
    ) with (
      fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200,
      autovacuum_vacuum_cost_delay = 0
    )`.execute(db)
  await sql`insert into tracebook.tree (size) values (0)`.execute(db)

  // A row for each time that a key came into use, with the last checkpoint that it signed. `retired`: no key is in use.
  await sql`
    create table tracebook.audit_keys (
      number int4 primary key, key text not null, from_size int8 not null, size int8 not null, root bytea not null,
      note text not null, signed_at int8 not null, retired bool not null default false
    ) with (fillfactor = 50)`.execute(db)
}
