import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { newId } from '../../../src/base/ids.ts'
import { dropUnused, holdUseLock } from '../../../src/eventstore/engine/schema.ts'
import { MAIN, schemaOf } from '../../../src/eventstore/engine/group.ts'
import { SqlState, hasSqlState } from '../../../src/eventstore/postgres/sql-state.ts'
import { numbered } from '../log/support/events.ts'
import { openEngine } from '../../support/engine.ts'
import { until } from '../../support/until.ts'
import { type EmptyWorld, newEmptyWorld } from '../../support/world.ts'

const schema = schemaOf(mainGroup)

type Scene = EmptyWorld & { sql: pg.Client }

const test = suite<Scene>('engine: schemas that are not used any more')
test.before.each(async (scene) => {
  Object.assign(scene, await newEmptyWorld({ readModels: false }))
  scene.sql = new pg.Client({ connectionString: scene.database.url })
  await scene.sql.connect()
})
test.after.each(async ({ sql, close }) => {
  await sql.end()
  await close()
})

const make = async (sql: pg.Client, ...schemas: string[]) => {
  for (const schema of schemas) await sql.query(`create schema ${schema}; create table ${schema}.t (a int)`)
}

const schemas = async (sql: pg.Client): Promise<string[]> =>
  (await sql.query(`select nspname from pg_namespace where starts_with(nspname, 'rm_') order by 1`)).rows.map(
    ({ nspname }) => nspname,
  )

test('read models of an older version are dropped when the last process that uses them has gone', async ({
  sql,
  database,
}) => {
  await make(sql, 'rm_9', 'rm_10', 'rm_10_next', 'rm_11', 'rm_12', 'rm_10_mine', 'rm_x')
  const group = { name: MAIN, version: 11, projections: [] }
  const users = await Promise.all(
    [1, 2].map(async () => {
      const user = new pg.Client({ connectionString: database.url })
      await user.connect()
      await holdUseLock(user, 'rm_10')
      return user
    }),
  )
  assert.equal(await dropUnused(sql, group), ['rm_9'])
  await users[0]!.end()
  assert.equal(await dropUnused(sql, group), [])
  await users[1]!.end()
  const dropped: string[] = []
  while (dropped.length < 2) dropped.push(...(await dropUnused(sql, group)))
  assert.equal(dropped.toSorted(), ['rm_10', 'rm_10_next'])
  assert.equal(await schemas(sql), ['rm_10_mine', 'rm_11', 'rm_12', 'rm_x'], 'no newer ones, and nothing else')
})

test('a service drops those of the previous version', async ({ sql, database }) => {
  await make(sql, 'rm_0')
  const engine = openEngine(database.url)
  try {
    while ((await schemas(sql)).includes('rm_0')) await setTimeout(5)
    assert.ok((await schemas(sql)).includes(schema))
  } finally {
    await engine.close()
  }
})

test('a service that is never idle does, too', async ({ sql, database }) => {
  await make(sql, 'rm_0')
  const engine = openEngine(database.url, {
    // A follower that finds new events each time it looks is never told that there are none.
    change: (log) => ({
      ...log,
      async *follow(options) {
        for await (const batch of log.follow(options)) if (batch.events.length > 0) yield batch
      },
    }),
  })
  try {
    await engine.log.append(`thing-${newId()}`, 'none', numbered(1))
    await until(async () => !(await schemas(sql)).includes('rm_0'))
  } finally {
    await engine.close()
  }
})

test('a reader of an older version is not waited for', async ({ sql, database }) => {
  await make(sql, 'rm_0')
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query('begin; select * from rm_0.t')
  const error = await dropUnused(sql, { name: MAIN, version: 1, projections: [] }).catch((error: unknown) => error)
  assert.ok(hasSqlState(error, SqlState.lockNotAvailable))
  await reader.query('commit')
  await reader.end()
  assert.equal(await dropUnused(sql, { name: MAIN, version: 1, projections: [] }), ['rm_0'])
})

test('a runner declares that it uses its read models', async ({ sql, database }) => {
  const engine = openEngine(database.url)
  try {
    while (engine.runner.state().is !== 'running') await setTimeout(5)
    const { rows } = await sql.query(`select pg_try_advisory_lock(hashtext('tracebook uses ${schema}')) as free`)
    assert.is(rows[0].free, false)
  } finally {
    await engine.close()
  }
})

/** Whether a process declares that it uses the main read models. */
const isUsed = async (sql: pg.Client): Promise<boolean> => {
  const { rows } = await sql.query(`select pg_try_advisory_lock(hashtext('tracebook uses ${schema}')) as free`)
  if (rows[0].free) await sql.query('select pg_advisory_unlock_all()')
  return !rows[0].free
}

test('a node that reads a standby declares that on the primary, also while the standby is away', async (scene) => {
  const standby = { DATABASE_URL: scene.database.url, DATABASE_READ_URL: 'postgresql://127.0.0.1:1/away' }
  const node = await scene.openNode({ env: { ROLES: 'api', ...standby }, ready: false })
  await until(() => isUsed(scene.sql))
  await node.close()
})

test('a node declares that it uses its read models for as long as it runs', async ({ sql, openNode }) => {
  const node = await openNode({ env: { ROLES: 'api' }, ready: false })
  while (!(await isUsed(sql))) await setTimeout(5)
  await sql.query(`select pg_terminate_backend(pid) from pg_locks join pg_database d on d.oid = database
    where datname = current_database() and locktype = 'advisory' and mode = 'ShareLock'`)
  while (!(await isUsed(sql))) await setTimeout(5)
  await node.close()
  while (await isUsed(sql)) await setTimeout(5)
})

test.run()
