import { type Kysely, sql } from 'kysely'

/** What the summary process knows of each trace, and when which catalogue was read: operational, never rebuilt. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)

  // Counts only, no content. `since` and `run_at` (ms) are set while a timer runs.
  await sql`
    create table tracebook.summaries (
      trace_id uuid primary key, incarnation int8 not null, message_count int8 not null, summarised int8,
      since int8, run_at int8
    ) with (fillfactor = 70)`.execute(db)

  // `next_at` (ms) is when the source is to be asked again; whoever moves it does so.
  await sql`
    create table tracebook.catalogues (
      source text collate "C" primary key, etag text, next_at int8 not null, refreshed_at int8
    )`.execute(db)
}
