import { type Kysely, sql } from 'kysely'

/** How far the end of the summary fold has come, and when tables that are rewritten or erased from are vacuumed. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)

  // While the row is there, the log is folded up to `until`; then traces that are due get their jobs, in the order of
  // their ids, and those up to `reached` have them. A table of its own: `reached` is no position.
  await sql`
    create table tracebook.summary_fold (
      one bool primary key default true check (one), until int8 not null,
      reached uuid not null default '00000000-0000-0000-0000-000000000000'
    )`.execute(db)
  await sql`
    with begun as (delete from tracebook.processes where name = 'summaries fold' returning position)
    insert into tracebook.summary_fold (until) select position from begun`.execute(db)
}
