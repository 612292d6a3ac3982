import { type Kysely, sql } from 'kysely'

/** The progress of the last step of the summary fold, and when tables with many updates or deletions are vacuumed. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create schema if not exists tracebook`.execute(db)

  // The row exists while the summary process folds the log up to the position `until`, and then gives jobs to the traces that
  // are due, in the order of their ids: those up to `reached` have theirs.
  await sql`
    create table tracebook.summary_fold (
      one bool primary key default true check (one), until int8 not null,
      reached uuid not null default '00000000-0000-0000-0000-000000000000'
    )`.execute(db)
  await sql`
    with begun as (delete from tracebook.processes where name = 'summaries fold' returning position)
    insert into tracebook.summary_fold (until) select position from begun`.execute(db)

  // By default a table is vacuumed once a fifth of its rows is dead: in a large log that is erased content of years. Frequent
  // vacuums are cheap: they skip pages without dead rows, and the indexes while few pages have any.
  await sql`
    alter table log.events set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
      toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
    )`.execute(db)

  // A row for each session, updated while it is used: the number of dead rows depends on use, not on the number of sessions.
  await sql`
    alter table tracebook.session_uses set (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500
    )`.execute(db)

  // Updated with every request, emptied every few minutes: small, so it is vacuumed without pauses.
  await sql`
    alter table tracebook.rate_limits set (
      autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)

  // A row for each trace, updated with its messages: few traces are busy at a time, as with sessions.
  await sql`
    alter table tracebook.summaries set (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
    )`.execute(db)

  // A queue that is nearly always empty and read from the front: without vacuums reads would find dead rows only.
  await sql`
    alter table tracebook.erasures set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)

  // A few rows, each updated several times a second.
  await sql`
    alter table tracebook.processes set (
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0
    )`.execute(db)
}
