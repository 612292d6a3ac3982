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

  // By default a table is vacuumed once a fifth of it is dead: of a large log that is years of erased content. Small
  // vacuums are cheap: what has no dead rows is skipped, and so are the indexes while few pages have some.
  await sql`
    alter table log.events set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
      toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
    )`.execute(db)

  // A row for each session, rewritten while it is used: dead rows follow the use, and not how many sessions there are.
  await sql`
    alter table tracebook.session_uses set (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500
    )`.execute(db)

  // Rewritten with every request of an address, emptied every few minutes: small, so it is vacuumed without pauses.
  await sql`
    alter table tracebook.rate_limits set (
      autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)

  // A row for each trace, rewritten with its batches: as with sessions, the busy ones are few.
  await sql`
    alter table tracebook.summaries set (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
    )`.execute(db)

  // A queue, nearly empty all the time and read from the front: dead rows would be all that there is to read.
  await sql`
    alter table tracebook.erasures set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)

  // A handful of rows, each rewritten several times a second.
  await sql`
    alter table tracebook.processes set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)
}
