import type pg from 'pg'

/** The lock of the one process that follows the log. */
export const LEAD = 'tracebook summaries'

/**
 * A runner that dies leaves its jobs locked, for hours if nobody looks. So each holds an advisory lock under its name on
 * a session that ends with it, or while it is frozen: a runner whose lock can be had is gone.
 */
const keyOf = (id: string) => `hashtextextended(${id}, 0)`

/** Says that this runner lives, for as long as the session does. */
export const sayAlive = (client: pg.ClientBase, id: string): Promise<unknown> =>
  client.query(`select pg_advisory_lock(${keyOf('$1')})`, [id])

/**
 * The job store's table has no index that finds the few locked jobs among all that wait. This one is ours: it follows the
 * table through the job store's own migrations, is made anew where it is missing, and without it all is as right, but slow.
 */
const makeIndex = `
  do $$ begin
    if to_regclass('graphile_worker.tracebook_locked_jobs') is null then
      create index tracebook_locked_jobs on graphile_worker._private_jobs (locked_by) where locked_by is not null;
    end if;
  end $$`

/** Rejects when another worker is making it, or this role may not. */
export const indexLockedJobs = (pool: pg.Pool): Promise<unknown> => pool.query(makeIndex)

const lockedByTheDead = `
  with lockers as materialized (
    select locked_by, array_agg(id) as ids from graphile_worker.jobs where locked_by is not null group by locked_by
  )
  select locked_by, ids from lockers where pg_try_advisory_xact_lock(${keyOf('locked_by')})`

/** Runs jobs again, as far as nobody has locked them; a run that was cut short does not count as an attempt. */
export const AGAIN = `
  select again.id from graphile_worker.jobs j
  cross join lateral graphile_worker.reschedule_jobs(array[j.id], now(), null, greatest(j.attempts - 1, 0)) again
  where j.id = any($1::int8[])`

/** Gives back the jobs of runners that are gone. Safe when several do it at once. */
export const releaseJobsOfDeadWorkers = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ locked_by: string; ids: bigint[] }>(lockedByTheDead)
    for (const { locked_by, ids } of rows) {
      await client.query('select graphile_worker.force_unlock_workers(array[$1])', [locked_by])
      await client.query(AGAIN, [ids])
    }
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}
