import { type Kysely, sql } from 'kysely'

/** The epoch and the last event of each process's checkpoint, and why a stream could not be erased yet. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  // The log's epoch when the checkpoint last moved, and the last event before it: both null until it moves again.
  await sql`
    alter table tracebook.processes add column if not exists epoch uuid,
      add column if not exists event_position int8, add column if not exists event_id uuid`.execute(db)

  // `event_id` is that of the deletion: null in rows of an older version.
  await sql`
    alter table tracebook.erasures add column event_id uuid, add column attempts int4 not null default 0,
      add column reason text, add column next_at timestamptz not null default '-infinity'`.execute(db)
}
