import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { startJobRunner } from '../../../src/server/summary/job-runner.ts'
import { releaseJobsOfDeadWorkers, holdLivenessLock } from '../../../src/server/summary/worker-liveness.ts'
import { TASK } from '../../../src/server/summary/process-state.ts'
import { freshDatabase } from '../../support/database.ts'

const test = suite('jobs of dead workers')

const JOBS = 100_000
const database = await freshDatabase()
const living = new pg.Client({ connectionString: database.url })
await living.connect()
const pool = newPool({ url: database.url, name: 'operations', max: 1 })
test.after(async () => {
  await pool.end()
  await living.end()
  await database.drop()
})

/** As a worker that starts makes them, then many jobs, some of them taken. */
const fill = async () => {
  const { close } = await startJobRunner({
    url: database.url,
    connections: 3,
    concurrency: 1,
    run: async () => {},
    logger: { debug: () => {} },
  })
  await close()
  await living.query(`select count(*) from graphile_worker.add_jobs(array(
    select row('${TASK}', '{}', null, now() + interval '1 hour', 3, 'key:' || n, null, null)::graphile_worker.job_spec
    from generate_series(1, ${JOBS}) n))`)
  await living.query('vacuum analyze graphile_worker._private_jobs')
  const take = `update graphile_worker._private_jobs set locked_at = now(), locked_by = $1, attempts = 1 where key = any($2)`
  await living.query(take, ['dead', ['key:5', 'key:70000']])
  await living.query(take, ['living', ['key:6']])
  await holdLivenessLock(living, 'living')
}

/** What this session's queries have scanned of the jobs from end to end, and how many are locked. */
const scans = async (): Promise<number> => {
  await pool.query('select pg_stat_force_next_flush()')
  const text = `select seq_scan from pg_stat_all_tables where relid = 'graphile_worker._private_jobs'::regclass`
  return Number((await pool.query(text)).rows[0].seq_scan)
}

test('are found, and released, without a scan over all jobs', async () => {
  await fill()
  const before = await scans()
  await releaseJobsOfDeadWorkers(pool)
  await releaseJobsOfDeadWorkers(pool)
  assert.is(await scans(), before)
  const { rows } = await living.query(
    'select key, attempts, locked_by from graphile_worker.jobs where locked_by is not null or run_at <= now() order by key',
  )
  assert.equal(rows, [
    { key: 'key:5', attempts: 0, locked_by: null },
    { key: 'key:6', attempts: 1, locked_by: 'living' },
    { key: 'key:70000', attempts: 0, locked_by: null },
  ])
})

test.run()
