import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { feedOf, insist } from '../../fault/support/answers.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { type Database, onServer } from '../../support/database.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import type { App } from '../../support/open-app.ts'
import { mainGroup } from '../../../projections/index.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { shelf } from './support/shelf.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, type EmptyWorld, newEmptyWorld, signIn } from '../../support/world.ts'

type Scene = EmptyWorld & { double: Double; lines: string[]; app: App; token: string }

/** The read models lie elsewhere, and have seen more than the log holds. */
const test = suite<Scene>('engine: a log in EventStoreDB that has lost its end')
test.before.each(async (scene) => {
  scene.lines = []
  scene.double = await startDouble()
  const logger = pino({ level: 'info' }, { write: (line: string) => void scene.lines.push(line) })
  const env = { ...WITH_WORKER, EVENTSTORE_URL: scene.double.url, SUMMARY_DEBOUNCE_MS: '50', SUMMARY_THRESHOLD: '1' }
  Object.assign(scene, await newEmptyWorld({ env, logger, groups: [mainGroup, shelf], readModels: false }))
  scene.app = await scene.openNode()
  scene.token = (await signIn(scene.app)).token
})
test.after.each(async ({ close, double }) => {
  await close()
  await double.stop()
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

/** Stops the server, puts it back to what it held, and starts it. */
const putBack = async ({ double }: Scene, count: number, whileStopped: () => Promise<unknown> = async () => {}) => {
  await double.stop()
  await whileStopped()
  double.store.keepFirst(count)
  await double.start()
}

/** Puts the server back; gives what readiness says until all is well again. */
const loseTail = async (scene: Scene, count: number): Promise<Set<string>> => {
  const { app, lines } = scene
  await putBack(scene, count, () => until(async () => (await app.service.readiness()).missing.length > 0))
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

// Positions of events that were lost are given to others: read models that have passed them have not seen these.
test('a node without a runner answers no write until read models built from what is left hold it', async (scene) => {
  const { app: builder, openNode, double, lines, token } = scene
  const node = await openNode({ env: { ROLES: 'api' } })
  const count = double.store.all().length
  for (let i = 0; i < 20; i++) await insist(node, 'PUT', path(`lost-${i}`), token, shared)
  await builder.close()
  await putBack(scene, count)
  await until(() => lines.some((line) => line.includes('has lost its end')))

  const fresh = await node.unrepeated(() => node.call('PUT', path('fresh'), { token, body: shared }))
  assert.is(fresh.status, 503)

  await openNode()
  await insist(node, 'PUT', path('other'), token, shared)
  await until(async () => (await node.service.readiness()).missing.length === 0)
  assert.not.ok((await feedOf(node)).some((name) => name.startsWith('lost')))
  assert.ok((await feedOf(node)).includes('other'))
})

test.run()
