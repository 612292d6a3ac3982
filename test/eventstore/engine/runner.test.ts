import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import { newWatermark } from '../../../src/eventstore/engine/watermark.ts'
import { newQuarantine } from '../../../src/eventstore/engine/quarantine.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { startRunner } from '../../../src/eventstore/engine/runner.ts'
import { formats } from '../../../src/server/events.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import type { Database } from '../../support/database.ts'
import { openEngine } from '../../support/engine.ts'
import type { App } from '../../support/open-app.ts'
import { sweepAll } from '../../support/sweep.ts'
import { NO_CLEANUP, outage, silent } from '../../support/silent.ts'
import { typesSince } from '../../support/types-since.ts'
import { until } from '../../support/until.ts'
import { newWorld, signIn } from '../../support/world.ts'

const schema = schemaOf(mainGroup)

type Scene = { database: Database; sql: pg.Client; app: App; token: string; close: () => Promise<void> }

const test = suite<Scene>('engine/runner')
test.before.each(async (scene) => {
  const { database, node, close } = await newWorld({ readModels: false })
  Object.assign(scene, { database, app: node, close })
  scene.sql = new pg.Client({ connectionString: scene.database.url })
  await scene.sql.connect()
  scene.token = (await signIn(node)).token
})
test.after.each(async ({ sql, close }) => {
  await sql.end()
  await close()
})

const isReady = async ({ service }: App) => (await service.readiness()).missing.length === 0

/** Ends connections of the service, as an administrator would; all that are for something, or one at random. */
const terminate = (sql: pg.Client, name = '', all = true) =>
  sql.query(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where datname = current_database() and starts_with(application_name, $1)
       order by random() limit $2) chosen`,
    [`tracebook ${name}`, all ? 1_000 : 1],
  )

/** Writes to a trace of its own until told to stop, all kinds of things; what is refused for now is tried again. */
const write = async ({ call }: App, token: string, isOver: () => boolean) => {
  const url = `/v1/traces/${randomUUID()}`
  const statuses = new Set<number>()
  const insist = async (...request: Parameters<typeof call>) => {
    for (;;) {
      const { status } = await call(...request)
      statuses.add(status)
      if (status !== 503) return
    }
  }
  for (let i = 0; !isOver(); i++) {
    await insist('PUT', url, { token, body: { title: `${i}`, visibility: i % 2 ? 'public' : 'private' } })
    const messages = Array.from({ length: 3 }, (_, m) => ({
      externalId: `m${(i + m) % 7}`,
      role: 'assistant',
      parts: Array.from({ length: (i + m) % 4 }, (_, p) => ({ type: 'text', content: { text: `${i} ${p}` } })),
    }))
    await insist('POST', `${url}/messages/batch`, { token, body: { messages } })
    if (i % 9 === 8) await insist('DELETE', url, { token })
  }
  return statuses
}

test('whichever connection is cut during writes, the read models end as in a rebuild', async (scene) => {
  const { app, sql, token, database } = scene
  let over = false
  const writers = Array.from({ length: 6 }, () => write(app, token, () => over))
  const { log, codec } = app.service
  for (let round = 0; round < 10; round++) {
    const head = await log.head().catch(() => 0n)
    await terminate(sql, '', false)
    await until(async () => (await log.head().catch(() => 0n)) >= head + 10n)
  }
  over = true
  const statuses = new Set((await Promise.all(writers)).flatMap((seen) => [...seen]))
  assert.equal(
    [...statuses].filter((status) => ![200, 404, 503].includes(status)),
    [],
  )
  await until(() => isReady(app))
  await sweepAll(database.url)
  const live = await dumpSchema(database.url, schema)
  await rebuild({ url: database.url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(database.url, schema), live)
})

test('a second runner stands by, and takes over when the first one is gone', async ({ app, token, database }) => {
  const other = openEngine(database.url)
  await until(() => other.runner.state().is === 'standby')
  await app.call('PUT', '/v1/traces/t', { token, body: { title: 'one' } })
  const head = await other.log.head()
  await app.close()
  await until(() => other.runner.state().is === 'running')
  assert.ok(other.watermark.position() >= head)
  await other.close()
})

test('what is written while the runner has no connection is applied when it has one again', async (scene) => {
  const { app, sql, token } = scene
  await terminate(sql, 'projections')
  const { status } = await app.call('PUT', '/v1/traces/t', { token, body: {} })
  assert.is(status, 200)
})

test('another version builds its own schema while this one serves', async ({ app, token, database }) => {
  let over = false
  const writing = write(app, token, () => over)
  const { log } = app.service
  await until(async () => (await log.head()) > 50n)
  const [watermark, quarantine] = [newWatermark(), newQuarantine()]
  const group = { ...mainGroup, version: mainGroup.version + 1 }
  const runner = startRunner({
    url: database.url,
    group,
    log,
    codec: newCodec(formats),
    watermark,
    quarantine,
    logger: silent,
    outage,
    cleanup: NO_CLEANUP,
  })
  await until(() => runner.state().is === 'running')
  over = true
  assert.equal([...(await writing)].sort(), [200])
  await watermark.waitFor(await log.head(), 5_000)
  for (const name of [schema, schemaOf(group)]) await sweepAll(database.url, name)
  assert.equal(await dumpSchema(database.url, schemaOf(group)), await dumpSchema(database.url, schema))
  await runner.close()
})

test('writes are refused while the read models are far behind', async ({ app, sql, token }) => {
  const { call } = app
  const put = async (name: string) => {
    const { status, error } = await app.unrepeated(() => call('PUT', `/v1/traces/${name}`, { token, body: {} }))
    return { status, stored: (error as { details?: { stored: unknown } } | undefined)?.details?.stored }
  }
  await sql.query('begin')
  await sql.query(`select pg_advisory_xact_lock(hashtext('tracebook swap ${schema}'))`)
  assert.equal(await put('one'), { status: 503, stored: true })
  await until(async () => (await put('two')).stored === false)
  const head = await app.service.log.head()
  assert.equal(await put('three'), { status: 503, stored: false })
  assert.equal(await typesSince(app.service.log, head), [])
  await sql.query('rollback')
  await until(() => isReady(app))
  assert.is((await put('two')).status, 200)
})

test.run()
