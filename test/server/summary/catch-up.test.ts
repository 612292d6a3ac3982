import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startJobRunner } from '../../../src/server/summary/job-runner.ts'
import { numbered } from '../../eventstore/log/support/events.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { type Database, freshDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const test = suite('the end of a catch-up of summaries')
const DUE = 5_500
const JOBS = 'graphile_worker._private_jobs'

let database: Database
let sql: pg.Client
const workers = new Set<ChildProcess>()
test.before.each(async () => {
  database = await freshDatabase()
  sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const { url } = database
  await (
    await startJobRunner({ url, connections: 3, concurrency: 1, run: async () => {}, logger: { debug: () => {} } })
  ).close()
  await fillTables()
})
test.after.each(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  await sql.end()
  await database.drop()
})

/** The state at the end of a catch-up: many traces are due, and none has a job yet. */
const fillTables = async () => {
  const log = openBareLog(database.url)
  await log.append('thing-1', 'none', numbered(1))
  const head = `${await log.head()}`
  await log.close()
  const rows = `insert into tracebook.summaries select gen_random_uuid(), 0, 1`
  await sql.query(`${rows}, null, $1::int8, $1::int8 from generate_series(1, ${DUE})`, [Date.now() + 3_600_000])
  await sql.query(`${rows}, 1, null, null from generate_series(1, 500)`)
  await sql.query(`insert into tracebook.processes values ('summaries', $1)`, [head])
  await sql.query('insert into tracebook.summary_fold (until) values ($1)', [head])
}

const startWorker = () => {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'worker.ts')], {
    env: { ...process.env, WORKER_URL: database.url },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  workers.add(worker)
  return worker
}

const number = async (query: string): Promise<number> => Number((await sql.query(query)).rows[0].n)
const waiting = `select count(*) as n from pg_stat_activity
  where datname = current_database() and application_name = 'tracebook summaries' and wait_event_type = 'Lock'`
const isOver = async () => (await number('select count(*) as n from tracebook.summary_fold')) === 0 || undefined

/** Each trace that is due has its job, made once. */
const assertDone = async () => {
  assert.is(await number(`select count(*) as n from ${JOBS}`), DUE)
  const matched = `select count(*) as n from tracebook.summaries s join ${JOBS} j on j.key = 'summarise:' || s.trace_id`
  assert.is(await number(`${matched} where s.run_at is not null and j.revision = 0`), DUE)
}

test('creates the jobs of all traces that are due, in small transactions', async () => {
  startWorker()
  await until(isOver)
  await assertDone()
  const most = await number(
    `select max(n) as n from (select count(*) as n from ${JOBS} group by xmin) of_a_transaction`,
  )
  assert.ok(most <= 1_000, `${most} jobs in one transaction`)
})

test('resumes after a killed worker', async () => {
  const blocker = new pg.Client({ connectionString: database.url })
  blocker.on('error', () => {})
  await blocker.connect()
  await blocker.query('begin')
  await blocker.query(`select graphile_worker.add_job('other', job_key => 'summarise:' || trace_id) from (
    select trace_id from tracebook.summaries where run_at is not null order by trace_id offset 3500 limit 1) one`)
  const worker = startWorker()
  await until(async () => (await number(waiting)) > 0 || undefined)
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  assert.is(await number(`select count(*) as n from ${JOBS}`), 3_000)
  await blocker.query('rollback')
  await blocker.end()
  startWorker()
  await until(isOver)
  await assertDone()
})

test.run()
