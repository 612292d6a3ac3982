import { type Kysely, sql } from 'kysely'

/** The traces that retention is about to delete. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    create table tracebook.expiring_traces (
      namespace_id uuid not null, trace_id uuid not null, primary key (namespace_id, trace_id)
    )`.execute(db)
}
