import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { parseSchema } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { dropUnused, locks } from '../../../src/eventstore/engine/schema.ts'
import { endLeaderSession } from '../../../src/eventstore/postgres/leader.ts'
import { newLoop } from '../../fault/support/loop.ts'
import { holderOf, schema } from '../../fault/support/nodes.ts'
import { howItEnded } from '../../fault/support/service.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { type Database, onServer } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, newWorld, signIn } from '../../support/world.ts'

type Scene = { database: Database; app: App; token: string; sql: pg.Client; close: () => Promise<void> }

const test = suite<Scene>('engine: the schema of an unfinished rebuild')
test.before.each(async (scene) => {
  const { database, node, close } = await newWorld({ readModels: false, env: WITH_WORKER })
  const { token, send } = await signIn(node)
  Object.assign(scene, { database, app: node, token, close })
  scene.sql = new pg.Client({ connectionString: scene.database.url })
  await scene.sql.connect()
  await send('PUT', '/v1/traces/t', { visibility: 'public' })
})
test.after.each(async ({ sql, close }) => {
  await sql.end()
  await close()
})

const MARKER = 'told by a message'
const main = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts')

const allSchemas = async (url: string): Promise<string[]> =>
  (await onServer(url, `select nspname from pg_namespace where starts_with(nspname, 'rm_') order by 1`)).rows.map(
    ({ nspname }) => nspname as string,
  )

/** Those of the main group, which is rebuilt. */
const schemas = async (url: string): Promise<string[]> =>
  (await allSchemas(url)).filter((name) => parseSchema(mainGroup, name) !== undefined)

/** The schemas that hold the marker, anywhere. */
const marked = async (url: string): Promise<string[]> => {
  const found: string[] = []
  for (const name of await allSchemas(url))
    if (JSON.stringify(await dumpSchema(url, name)).includes(MARKER)) found.push(name)
  return found
}

const startRebuild = (url: string, stderr: 'ignore' | 'pipe' = 'ignore'): ChildProcess => {
  const env = { ...process.env, DATABASE_URL: url, ...logEnvironment(url) }
  return spawn(process.execPath, [main, 'rebuild'], { env, stdio: ['ignore', 'ignore', stderr] })
}

/** Kills a rebuild before its last step. */
const leaveUnfinished = async ({ app, database: { url }, token, sql }: Scene) => {
  const body = { role: 'user', textContent: MARKER }
  assert.is((await app.call('PUT', '/v1/traces/t/messages/m', { token, body })).status, 200)
  await sql.query(`begin; grant usage on schema ${schema} to public`) // keeps it from being renamed
  const child = startRebuild(url)
  const ended = howItEnded(child)
  await until(async () => (await holderOf(url, locks.swap(schema))) !== undefined)
  child.kill('SIGKILL')
  await ended
  await sql.query('rollback')
  await until(async () => (await holderOf(url, locks.rebuild(schema))) === undefined)
  assert.equal(await marked(url), [schema, `${schema}_next`])
}

test('it is dropped by the next rebuild', async (scene) => {
  const { database, app } = scene
  const { url } = database
  await leaveUnfinished(scene)
  const { log, codec } = app.service
  await rebuild({ url, group: mainGroup, log, codec })
  assert.equal(await schemas(url), [schema])
  assert.equal(await marked(url), [schema])
})

test('it is dropped with the unused schemas', async (scene) => {
  await leaveUnfinished(scene)
  assert.equal(await dropUnused(scene.sql, mainGroup), [`${schema}_next`])
  assert.equal(await marked(scene.database.url), [schema])
})

test('an erasure ends only after it is dropped', async (scene) => {
  const { app, token, database } = scene
  await leaveUnfinished(scene)
  assert.is((await app.call('DELETE', '/v1/traces/t', { token })).status, 200)
  await until(async () => !(await schemas(database.url)).includes(`${schema}_next`))
  await until(async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length === 0)
  assert.equal(await marked(database.url), [])
})

test('a rebuild that loses its database session says that it can be run again', async ({ database: { url }, sql }) => {
  await sql.query(`begin; grant usage on schema ${schema} to public`) // keeps it from being renamed
  const child = startRebuild(url, 'pipe')
  const [ended, told] = [howItEnded(child), text(child.stderr!)]
  await until(async () => (await holderOf(url, locks.swap(schema))) !== undefined)
  await endLeaderSession(sql, locks.rebuild(schema))
  assert.is(await ended, 1)
  assert.match(await told, /^tracebook: The rebuild stopped because .* Run it again\.$/m)
  await sql.query('rollback')
  const again = startRebuild(url)
  assert.is(await howItEnded(again), 0)
  assert.equal(await schemas(url), [schema])
})

test('the previous schema stays while it is read, and delays no request', async (scene) => {
  const { database, app, token, sql } = scene
  const { url } = database
  const wrong: unknown[] = []
  let n = 0
  const load = newLoop(
    async () => {
      const body = { role: 'user', textContent: `${n++}` }
      for (const { status, error } of [
        await app.call('GET', '/v1/feed'),
        await app.call('GET', '/v1/traces/t/messages', { token }),
        await app.call('PUT', `/v1/traces/t/messages/m${n}`, { token, body }),
      ])
        if (status !== 200) wrong.push(error)
    },
    () => 1,
  )
  await sql.query(`begin; select from ${schema}.traces`)
  load.start()
  const { log, codec } = app.service
  await rebuild({ url, group: mainGroup, log, codec })
  const after = load.turns()
  await until(() => load.turns() > after + 3)
  await load.stop()
  assert.equal(wrong, [])
  assert.equal(await schemas(url), [schema, `${schema}_old_0`])
  await sql.query('commit')
  await dropUnused(sql, mainGroup)
  assert.equal(await schemas(url), [schema])
})

test.run()
