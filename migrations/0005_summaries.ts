import { type Kysely, sql } from 'kysely'

/** The state of the summary process for each trace, and when each catalogue of models was read. Operational data. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)

  // Holds counts, no content. `since` and `run_at` (milliseconds) are set while a timer runs.
  await sql`
    create table tracebook.summaries (
      trace_id uuid primary key, incarnation int8 not null, message_count int8 not null, summarised int8,
      since int8, run_at int8
    ) with (fillfactor = 70)`.execute(db)

  // `next_at` (milliseconds) is when the source is to be read again: the process that moves it reads.
  await sql`
    create table tracebook.catalogues (
      source text collate "C" primary key, etag text, next_at int8 not null, refreshed_at int8
    )`.execute(db)
}
