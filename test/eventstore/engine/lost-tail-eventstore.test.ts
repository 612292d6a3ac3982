import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { feedOf, insist } from '../../fault/support/answers.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { mainGroup } from '../../../projections/index.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { shelf } from './support/shelf.ts'
import { until } from '../../support/until.ts'

type Scene = { double: Double; database: Database; app: App; lines: string[]; token: string }

/** The read models lie elsewhere, and have seen more than the log holds. */
const test = suite<Scene>('engine: a log in EventStoreDB that has lost its end')
test.before.each(async (scene) => {
  scene.lines = []
  scene.double = await startDouble()
  scene.database = await freshDatabase({ readModels: false })
  const logger = pino({ level: 'info' }, { write: (line: string) => void scene.lines.push(line) })
  const env = { EVENTSTORE_URL: scene.double.url, SUMMARY_DEBOUNCE_MS: '50', SUMMARY_THRESHOLD: '1' }
  scene.app = await openApp(scene.database.url, { env, logger, groups: [mainGroup, shelf] })
  const { data } = await scene.app.call('POST', '/v1/session', { body: { deviceId: 'device' } })
  scene.token = (data as { session: { token: string } }).session.token
})
test.after.each(async ({ double, database, app }) => {
  await app.close()
  await Promise.all([double.stop(), database.drop()])
})

const path = (trace: string) => `/v1/traces/${trace}`
const shared = { visibility: 'public' }

type Trace = { id: string; messageCount: number; summaryMessageCount?: number }
const read = async ({ app, token }: Scene, trace: string): Promise<Trace> =>
  ((await app.call('GET', path(trace), { token })).data as { trace: Trace }).trace

const write = ({ app, token }: Scene, method: 'PUT' | 'DELETE', to: string, body?: object) =>
  insist(app, method, to, token, body)

/** Takes two traces out of the feed, and puts another in; its messages are summarised. */
const writeWhatIsLost = async (scene: Scene) => {
  await write(scene, 'PUT', path('hidden'), { visibility: 'private' })
  await write(scene, 'DELETE', path('gone'))
  await write(scene, 'PUT', path('vanished'), shared)
  for (let i = 0; i < 20; i++)
    await write(scene, 'PUT', `${path('vanished')}/messages/m${i}`, { role: 'user', textContent: 'x' })
  await until(async () => (await read(scene, 'vanished')).summaryMessageCount === 20)
  assert.equal(await feedOf(scene.app), ['kept', 'vanished'])
}

/** Stops the server, puts it back to what it held, and starts it; gives what readiness says until all is well again. */
const loseTail = async ({ app, double, lines }: Scene, count: number): Promise<Set<string>> => {
  await double.stop()
  await until(async () => (await app.service.readiness()).missing.length > 0)
  double.store.keepFirst(count)
  await double.start()
  const said = new Set<string>()
  const isReady = async () => {
    const { missing } = await app.service.readiness()
    for (const reason of missing) said.add(reason)
    return missing.length === 0
  }
  await until(async () => (await isReady()) && lines.some((line) => line.includes('are rebuilt')))
  await until(isReady)
  return said
}

const eventsOf = async ({ double }: Scene, stream: string): Promise<string[]> => {
  const log = openEventStoreLog({ url: double.url })
  const types: string[] = []
  for await (const { type } of log.read(stream)) types.push(type)
  await log.close()
  return types
}

const hasComeTo = async (position: bigint, { url }: Database, schema: string): Promise<boolean> =>
  (await onServer(url, `select position >= $1 as there from ${schema}.reached`, [position])).rows[0]!.there as boolean

const lose = async (scene: Scene): Promise<string[]> => {
  for (const trace of ['hidden', 'gone', 'kept']) await write(scene, 'PUT', path(trace), shared)
  const count = scene.double.store.all().length
  await writeWhatIsLost(scene)
  return [...(await loseTail(scene, count))]
}

test('a lost end opens the service again, which rebuilds its read models', async (scene) => {
  const { app, database, lines } = scene
  const { epoch } = await app.service.log.identity()
  const said = await lose(scene)
  assert.match(said.join('\n'), /being built/)
  assert.is(lines.filter((line) => line.includes('the service is opened again')).length, 1, 'once')
  assert.match(lines.join('\n'), /"level":50[^\n]*the log has lost its end[^\n]*are rebuilt/)
  assert.not.equal((await app.service.log.identity()).epoch, epoch)
  assert.equal(await feedOf(app), ['gone', 'hidden', 'kept'])

  await write(scene, 'PUT', path('hidden'), { visibility: 'private' })
  await write(scene, 'DELETE', path('gone'))
  await write(scene, 'PUT', path('fresh'), shared)
  assert.equal(await feedOf(app), ['fresh', 'kept'])

  const { log, codec, reads } = app.service
  await until(async () => (await reads.rows('test-obsolete-rows', 'select from obsolete_rows', [])).length === 0)
  for (const group of [mainGroup, shelf]) {
    const schema = schemaOf(group)
    await until(async () => hasComeTo(await log.head(), database, schema))
    const live = await dumpSchema(database.url, schema)
    await rebuild({ url: database.url, group, log, codec })
    assert.equal(await dumpSchema(database.url, schema), live)
  }
})

test('a session is still summarised after the end was lost', async (scene) => {
  await lose(scene)
  await write(scene, 'PUT', `${path('kept')}/messages/m`, { role: 'user', textContent: 'x' })
  await until(async () => (await read(scene, 'kept')).summaryMessageCount === 1)
})

test('no longer holds what is deleted from then on', async (scene) => {
  await lose(scene)
  const { id } = await read(scene, 'gone')
  await write(scene, 'PUT', `${path('gone')}/messages/m`, { role: 'user', textContent: 'secret' })
  await write(scene, 'DELETE', path('gone'))
  await until(async () => `${await eventsOf(scene, `trace-${id}`)}` === 'TraceDeleted')
})

test.run()
