import { type Kysely, sql } from 'kysely'

/** Which events a process's checkpoint stands behind, and what keeps a stream from being erased. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  // The log's epoch in which the checkpoint came that far, and the last event that was seen: both null until then.
  await sql`
    alter table tracebook.processes add column if not exists epoch uuid,
      add column if not exists event_position int8, add column if not exists event_id uuid`.execute(db)

  // `event_id` is the deletion's: null where an older version has noted it.
  await sql`
    alter table tracebook.erasures add column event_id uuid, add column attempts int4 not null default 0,
      add column reason text, add column next_at timestamptz not null default '-infinity'`.execute(db)
}
