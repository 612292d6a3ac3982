import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { nextSchemaOf, oldSchemaOf, schemaOf } from '../../../src/eventstore/engine/group.ts'
import { type RebuildOptions, rebuild, withReplica } from '../../../src/eventstore/engine/rebuild.ts'
import { holdUseLock } from '../../../src/eventstore/engine/schema.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { type Database, onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type Person, newWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { type Noted, eventsOf, notedIn, writeTrace } from './support.ts'

type Scene = {
  database: Database
  app: App
  owner: Person
  other: pg.Client
  id: string
  close: () => Promise<void>
}

const test = suite<Scene>('erasure: read models in other schemas,')
test.before.each(async (scene) => {
  const { database, node, close } = await newWorld({ env: WITH_WORKER })
  Object.assign(scene, { database, app: node, owner: await signIn(node), close })
  scene.other = new pg.Client({ connectionString: scene.database.url })
  await scene.other.connect()
})
test.after.each(async ({ other, close }) => {
  await other.end()
  await close()
})

const SECRET = 'the cat is called Schroedinger'
const OLDER = schemaOf({ ...mainGroup, version: mainGroup.version - 1 })

const schemasIn = async ({ url }: Database): Promise<string[]> =>
  (await onServer(url, `select nspname as name from pg_namespace where starts_with(nspname, 'rm_')`)).rows.map(
    ({ name }) => name as string,
  )

/** The schemas that hold the secret, anywhere. */
const told = async (database: Database): Promise<string[]> => {
  const found: string[] = []
  for (const name of await schemasIn(database))
    if (JSON.stringify(await dumpSchema(database.url, name)).includes(SECRET)) found.push(name)
  return found
}

const rebuildOf = ({ database: { url }, app: { service } }: Scene): RebuildOptions => ({
  url,
  group: mainGroup,
  log: service.log,
  codec: service.codec,
})

const write = async (scene: Scene) => void (scene.id = await writeTrace(scene.owner, 't', SECRET))
const remove = ({ owner }: Scene) => owner.send('DELETE', '/v1/traces/t')

/** Waits until the erasure has been tried in vain; gives what is noted of it. */
const untilPostponed = ({ database }: Scene): Promise<Noted> =>
  until(async () => (await notedIn(database)).find(({ attempts }) => attempts > 0))

/** Waits until the erasure is called done, and checks that it is. */
const assertDone = async ({ app, database, id }: Scene) => {
  await until(async () => `${await eventsOf(app, id)}` === 'TraceDeleted' && (await notedIn(database)).length === 0)
  assert.equal(await told(database), [])
}

const assertWaitsFor = async (scene: Scene, schema: string) => {
  const { reason } = await untilPostponed(scene)
  assert.match(reason!, `other read models may still have the content and are in use: ${schema}`)
  assert.ok((await told(scene.database)).includes(schema))
}

test('which a reader keeps after they were replaced, are waited for', async (scene) => {
  const { other } = scene
  await write(scene)
  await other.query(`begin; select from ${schemaOf(mainGroup)}.messages`)
  await rebuild(rebuildOf(scene))
  await remove(scene)
  await assertWaitsFor(scene, oldSchemaOf(mainGroup, 0))
  await other.query('commit')
  await assertDone(scene)
})

test('which a killed rebuild or replay has left, are dropped first', async (scene) => {
  const { database } = scene
  await write(scene)
  const killed = withReplica(rebuildOf(scene), () => Promise.reject(new Error('killed')))
  assert.is((await killed.catch((error: unknown) => error as Error)).message, 'killed')
  assert.ok((await told(database)).includes(nextSchemaOf(mainGroup)))
  await remove(scene)
  await assertDone(scene)
})

test('which a replay builds, are waited for', async (scene) => {
  await write(scene)
  await withReplica(rebuildOf(scene), async () => {
    await remove(scene)
    await assertWaitsFor(scene, nextSchemaOf(mainGroup))
  })
  await assertDone(scene)
})

test('of an older version, are waited for while a process uses them, and dropped then', async (scene) => {
  const { other, database } = scene
  await other.query(`create schema ${OLDER}; create table ${OLDER}.messages as select '${SECRET}'::text as text`)
  await holdUseLock(other, OLDER)
  await write(scene)
  await remove(scene)
  await assertWaitsFor(scene, OLDER)
  await other.query('select pg_advisory_unlock_all()')
  await assertDone(scene)
  assert.not((await schemasIn(database)).includes(OLDER))
})

test.run()
