import pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { until } from '../../support/until.ts'
import { newWorld, signIn } from '../../support/world.ts'

delete process.env.TEST_LOG_URL // here the log is always in PostgreSQL

const test = suite('a statement that takes longer than it may')

/** Cancels one that waits for a lock, as the server does after the statement's time. */
const cancelWaiting = `
  select pg_cancel_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`

const lines: { level: number; reason?: string; msg: string }[] = []
const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
const { database, node, close } = await newWorld({ logger })
const [locker, observer] = [database.url, database.url].map((url) => new pg.Client({ connectionString: url }))
for (const client of [locker!, observer!]) await client.connect()
test.after(async () => {
  for (const client of [locker!, observer!]) await client.end()
  await close()
})

/** Does this while nobody can read the table; what waits for it on such connections is cancelled until it is done. */
const whileCancelled = async <T>(table: string, connections: string, work: () => Promise<T>): Promise<T> => {
  await locker!.query(`begin; lock table ${table} in access exclusive mode`)
  let isDone = false
  const working = work().finally(() => (isDone = true))
  await until(async () => {
    await observer!.query(cancelWaiting, [`tracebook ${connections}`])
    return isDone
  })
  await locker!.query('rollback')
  return working
}

test('answers 503, and the log of the service says why', async () => {
  const { ask, newTrace } = await signIn(node)
  const { url } = await newTrace()
  lines.length = 0
  const { status } = await whileCancelled(`${schemaOf(mainGroup)}.traces`, 'reads', () =>
    node.unrepeated(() => ask('GET', url)),
  )
  assert.is(status, 503)
  assert.equal(
    lines.map(({ level, reason, msg }) => ({ level, reason, msg })),
    [
      {
        level: 40,
        reason: 'a statement of the database took longer than 4 s and was cancelled',
        msg: 'request took too long',
      },
    ],
  )
})

test('makes a service not ready, and says so of the log', async () => {
  const { missing } = await whileCancelled('log.appends', 'log', () => node.service.readiness())
  assert.equal(missing, ['a statement of the log took longer than 10 s and was cancelled'])
})

test.run()
