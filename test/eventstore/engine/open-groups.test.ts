import pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { findQuarantined } from '../../../src/commands/log/quarantine.ts'
import { rebuildGroups } from '../../../src/commands/rebuild.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { openGroups } from '../../../src/eventstore/engine/open-groups.ts'
import { newWatermark } from '../../../src/eventstore/engine/watermark.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { skipEvent } from '../../../src/eventstore/engine/skip.ts'
import { eventsOf, notedIn, writeTrace } from '../../server/erasure/support.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type EmptyWorld, type Person, newEmptyWorld, signIn } from '../../support/world.ts'
import { shelf } from './support/shelf.ts'
import { until } from '../../support/until.ts'
import { outage } from '../../support/silent.ts'

type Scene = EmptyWorld & { sql: pg.Client; app: App; owner: Person }

const groups = [mainGroup, shelf]
const schema = schemaOf(shelf)

const test = suite<Scene>('engine: a second group of read models')
test.before.each(async (scene) => {
  Object.assign(scene, await newEmptyWorld({ readModels: false, groups, env: WITH_WORKER }))
  scene.sql = new pg.Client({ connectionString: scene.database.url })
  await scene.sql.connect()
  await scene.sql.query('create schema rm_shelf_1; create table rm_shelf_1.books (a int)')
  scene.app = await scene.openNode()
  scene.owner = await signIn(scene.app)
})
test.after.each(async ({ close, sql }) => {
  await sql.end()
  await close()
})

const put = ({ owner }: Scene, trace: string, body: object = {}) => owner.ask('PUT', `/v1/traces/${trace}`, body)

const booksOf = async ({ sql }: Scene): Promise<string[]> =>
  (await sql.query<{ name: string }>(`select name from ${schema}.books order by name`)).rows.map(({ name }) => name)

const hasBooks = (scene: Scene, ...names: string[]) =>
  until(async () => `${await booksOf(scene).catch(() => 'none yet')}` === `${names}`)

/** Holds up the runner of the second group, as a batch that never ends would. */
const hold = ({ sql }: Scene) => sql.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schema)])
const letGo = ({ sql }: Scene) => sql.query('select pg_advisory_unlock(hashtext($1))', [locks.swap(schema)])

/** The server process that holds a lock. */
const holderOf = async ({ sql }: Scene, lock: string): Promise<number | undefined> =>
  (
    await sql.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
         and database = (select oid from pg_database where datname = current_database())
         and ((classid::int8 << 32) | objid::int8) = hashtext($1)::int8`,
      [lock],
    )
  ).rows[0]?.pid

const metricsOf = (app: App) => app.service.metrics.registry.metrics()

test('has its own schema, checkpoint and lease, follows the log, and drops its older versions', async (scene) => {
  const { app, database, sql } = scene
  await scene.openNode()
  await put(scene, 'a')
  await put(scene, 'b')
  await hasBooks(scene, 'a', 'b')
  await until(async () => (await sql.query(`select to_regnamespace('rm_shelf_1') is null as gone`)).rows[0].gone)
  assert.ok((await dumpSchema(database.url, schemaOf(mainGroup))).traces)

  const [main, its] = [locks.runner(schemaOf(mainGroup)), locks.runner(schema)]
  const [mainPid, itsPid] = [await holderOf(scene, main), await holderOf(scene, its)]
  assert.ok(mainPid !== undefined && itsPid !== undefined && mainPid !== itsPid)
  await sql.query('select pg_terminate_backend($1)', [itsPid])
  await until(async () => ![undefined, itsPid].includes(await holderOf(scene, its)))
  assert.is(await holderOf(scene, main), mainPid)
  await put(scene, 'c')
  await hasBooks(scene, 'a', 'b', 'c')
  const metrics = await metricsOf(app)
  for (const group of ['main', 'shelf']) {
    assert.match(metrics, `tracebook_projection_lag_events{group="${group}"}`)
    assert.match(metrics, `tracebook_projection_lag_seconds{group="${group}"} 0`)
  }
})

test('may lag behind: the service is ready, reads and writes go on, and erasure waits for it', async (scene) => {
  const { app, owner, database } = scene
  const id = await writeTrace(owner, 'a', 'secret')
  await hasBooks(scene, 'a')
  await hold(scene)
  assert.is((await put(scene, 'b')).status, 200)
  await owner.send('DELETE', '/v1/traces/a')
  const ready = async () => {
    const { missing, degraded } = await app.service.readiness()
    assert.equal(missing, [])
    return degraded.join()
  }
  await until(async () => /shelf: the read models are too far behind the log: \d+ s/.test(await ready()))
  assert.match(await metricsOf(app), /tracebook_projection_lag_seconds\{group="shelf"\} [5-9]/)
  assert.match(await metricsOf(app), /tracebook_projection_lag_seconds\{group="main"\} 0\n/)
  assert.is((await put(scene, 'c')).status, 200)
  assert.is((await notedIn(database)).length, 1)
  assert.ok((await eventsOf(app, id)).length > 1, 'nothing has left the log')
  await letGo(scene)
  await until(async () => (await notedIn(database)).length === 0)
  assert.equal(await eventsOf(app, id), ['TraceDeleted'])
  await hasBooks(scene, 'b', 'c')
  assert.is(await ready(), '')
})

test('has its own quarantine, which does not concern the other groups', async (scene) => {
  const { app, sql, owner, database } = scene
  await put(scene, 'a')
  await hasBooks(scene, 'a')
  await sql.query(`alter table ${schema}.books add constraint no_cats check (name <> 'cat')`)
  await put(scene, 'cat', { title: 'A cat' })
  await put(scene, 'b')
  await hasBooks(scene, 'a', 'b')
  await owner.send('GET', '/v1/traces/cat')
  assert.is((await put(scene, 'cat', { title: 'Another' })).status, 200)
  const { missing, degraded } = await app.service.readiness()
  assert.equal(missing, [])
  assert.match(degraded.join(), /shelf: trace-\S+ is in quarantine: it violates no_cats/)
  assert.match(await metricsOf(app), 'tracebook_quarantined_streams{group="shelf"} 1')
  assert.match(await metricsOf(app), 'tracebook_quarantined_streams{group="main"} 0')

  const [found, ...more] = await findQuarantined(database.url, groups)
  assert.equal([found!.group.name, more.length], ['shelf', 0])
  const { log, codec } = app.service
  await skipEvent(log, codec, {
    stream: found!.quarantined.stream,
    position: found!.quarantined.position,
    by: 'Ada',
    why: 'a test',
    now: Date.now,
    unskippable: new Map(),
  })
  await until(async () => (await findQuarantined(database.url, groups)).length === 0)
  assert.equal(await booksOf(scene), ['a', 'b'])
})

test('may stop: the service goes on', async (scene) => {
  const { app, sql } = scene
  await hasBooks(scene)
  await sql.query(`alter table ${schema}.books add constraint nothing check (name = '')`)
  for (let i = 0; i < 12; i++) assert.is((await put(scene, `t${i}`)).status, 200)
  const said = async () => (await app.service.readiness()).degraded.join()
  await until(async () => (await said()).includes('shelf: projections have stopped'))
  assert.equal((await app.service.readiness()).missing, [])
  assert.is((await put(scene, 'after')).status, 200)
})

test('is rebuilt by its name, without the others', async (scene) => {
  const { database, sql } = scene
  await put(scene, 'a')
  await hasBooks(scene, 'a')
  const idOf = async (name: string) => (await sql.query('select to_regnamespace($1)::oid as id', [name])).rows[0].id
  const [main, its, live] = [
    await idOf(schemaOf(mainGroup)),
    await idOf(schema),
    await dumpSchema(database.url, schema),
  ]
  Object.assign(process.env, { DATABASE_URL: database.url, ...logEnvironment(database.url) })
  assert.is(await rebuildGroups({}, 'shelf', groups), 0)
  assert.is(await idOf(schemaOf(mainGroup)), main)
  assert.is.not(await idOf(schema), its)
  assert.equal(await dumpSchema(database.url, schema), live)
  await put(scene, 'b')
  await hasBooks(scene, 'a', 'b')
})

test('is known on nodes that have no runner', async (scene) => {
  const { app, openNode } = scene
  const api = await openNode({ env: { ROLES: 'api' } })
  await hasBooks(scene)
  await hold(scene)
  await put(scene, 'a')
  await until(async () =>
    (await api.service.readiness()).degraded.join().includes('shelf: the read models are too far'),
  )
  assert.equal((await api.service.readiness()).missing, [])
  await letGo(scene)
  await until(async () => (await api.service.readiness()).degraded.length === 0)
  assert.equal((await app.service.readiness()).missing, [])
})

test('names of groups are distinct, and one of them is main', async ({ app, database }) => {
  const { log, codec } = app.service
  const logger = pino({ level: 'silent' })
  const common = {
    url: database.url,
    log,
    codec,
    runs: false,
    lastSeen: newWatermark(),
    logger,
    outage,
    observe: () => {},
  }
  const open = (...names: string[]) => openGroups({ ...common, groups: names.map((name) => ({ ...shelf, name })) })
  assert.throws(() => open('main', 'shelf', 'shelf'), 'have the same name')
  assert.throws(() => open('main', '2_old'), 'is no name')
  assert.throws(() => open('shelf'), 'is called main')
})

test.run()
