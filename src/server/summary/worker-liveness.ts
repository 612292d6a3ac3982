import type pg from 'pg'

/** The advisory lock of the worker that follows the log. */
export const LEADER_LOCK = 'tracebook summaries'

/**
 * The jobs of a dead runner stay locked, and the job store unlocks them only after hours. So each runner holds an
 * advisory lock, in a session that ends when the runner dies or freezes. A runner whose lock can be acquired is dead.
 */
const lockKey = (id: string) => `hashtextextended(${id}, 0)`

/** Acquires the lock that marks this runner as alive until the session ends. */
export const holdLivenessLock = (client: pg.ClientBase, id: string): Promise<unknown> =>
  client.query(`select pg_advisory_lock(${lockKey('$1')})`, [id])

/**
 * The job store has no index for the few locked jobs among all waiting ones, so this project adds one to its table. The start
 * of a worker creates it if it is missing. Without it everything works, but slower.
 */
const createIndex = `
  do $$ begin
    if to_regclass('graphile_worker.tracebook_locked_jobs') is null then
      create index tracebook_locked_jobs on graphile_worker._private_jobs (locked_by) where locked_by is not null;
    end if;
  end $$`

/** Rejects if another worker creates it at the same time, or the database role may not. */
export const indexLockedJobs = (pool: pg.Pool): Promise<unknown> => pool.query(createIndex)

const jobsOfDeadWorkers = `
  with lockers as materialized (
    select locked_by, array_agg(id) as ids from graphile_worker.jobs where locked_by is not null group by locked_by
  )
  select locked_by, ids from lockers where pg_try_advisory_xact_lock(${lockKey('locked_by')})`

/** Makes jobs that are not locked run again at once. The interrupted run does not count as an attempt. */
export const rescheduleStatement = `
  select again.id from graphile_worker.jobs j
  cross join lateral graphile_worker.reschedule_jobs(array[j.id], now(), null, greatest(j.attempts - 1, 0)) again
  where j.id = any($1::int8[])`

/** Unlocks the jobs of dead runners. Several workers may do this at once. */
export const releaseJobsOfDeadWorkers = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ locked_by: string; ids: bigint[] }>(jobsOfDeadWorkers)
    for (const { locked_by, ids } of rows) {
      await client.query('select graphile_worker.force_unlock_workers(array[$1])', [locked_by])
      await client.query(rescheduleStatement, [ids])
    }
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}
