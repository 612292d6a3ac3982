import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { InQuarantine } from '../../../src/eventstore/engine/rejected.ts'
import { locks } from '../../../src/eventstore/engine/schema.ts'
import { skipEvent } from '../../../src/eventstore/engine/skip.ts'
import { newId, traceId } from '../../../src/base/ids.ts'
import { endLeaderSession } from '../../../src/eventstore/postgres/leader.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { onServer } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { typesSince } from '../../support/types-since.ts'
import { until } from '../../support/until.ts'
import { type Person, type World, newWorld, signIn } from '../../support/world.ts'

type Scene = World & { app: App; ada: Person; bob: Person }

const test = suite<Scene>('engine/quarantine')
test.before.each(async (scene) => {
  Object.assign(scene, await newWorld())
  scene.app = scene.node
  scene.ada = await signIn(scene.app)
  scene.bob = await signIn(scene.app)
})
test.after.each(({ close }) => close())

const eventOf = (type: string, data: object, metadata?: object) => ({
  id: newId(),
  type,
  data: JSON.stringify(data),
  metadata: JSON.stringify(metadata ?? { at: 1, schema: 1, append: { id: newId(), index: 0, size: 1 } }),
})

/** What no projection can apply: it does not decode, its metadata is none, or a constraint refuses it. */
const bad = {
  'of an unknown type': eventOf('Exploded', {}),
  'with data that do not fit': eventOf('TraceUpdated', { patch: 7 }),
  'with metadata of nobody': eventOf('TraceUpdated', { patch: [] }, {}),
  'that violates a constraint': eventOf('MessageAdded', {
    ...{ externalId: 'twice', ordinal: 0, role: 'user', class: 'user_message', tools: [], digest: 'd', parts: [] },
  }),
}

const put = ({ call }: App, { token }: Person, name: string, body: object = {}) =>
  call('PUT', `/v1/traces/${name}`, { token, body })

/** A public trace with a message, whose stream then gets an event that cannot be applied. */
const poison = async ({ app, ada }: Scene, event: ReturnType<typeof eventOf>, name = 'bad') => {
  await put(app, ada, name, { title: 'A', visibility: 'public' })
  await app.call('PUT', `/v1/traces/${name}/messages/m`, {
    token: ada.token,
    body: { role: 'user', textContent: 'hi' },
  })
  const stream = `trace-${traceId(ada.namespaceId, name)}`
  const revision = (await app.service.log.last(stream))?.revision ?? 'none'
  const { position } = await app.service.log.append(stream, revision, [event])
  await app.service.visible(position)
  return { stream, position }
}

const feedOf = async ({ call }: App, token?: string) =>
  ((await call('GET', '/v1/feed', { token })).data as { traces: { externalId: string }[] }).traces.map(
    ({ externalId }) => externalId,
  )

for (const [what, event] of Object.entries(bad)) {
  test(`an event ${what} affects its own stream only`, async (scene) => {
    const { app, ada, bob } = scene
    const { call } = app
    await put(app, bob, 'good', { visibility: 'public' })
    const { stream } = await poison(scene, event)
    const requests = [
      ['GET', '/v1/traces/bad'],
      ['GET', '/v1/traces/bad/messages'],
      ['PUT', '/v1/traces/bad', {}],
      ['PATCH', '/v1/traces/bad', {}],
      ['PUT', '/v1/traces/bad/messages/n', { role: 'user' }],
      ['POST', '/v1/traces/bad/messages/batch', { messages: [{ externalId: 'n', role: 'user' }] }],
      ['DELETE', '/v1/traces/bad'],
    ] as const
    for (const [method, url, body] of requests) {
      const answer = await call(method, url, { token: ada.token, body })
      assert.is(answer.status, 503, `${method} ${url}`)
      assert.match(answer.error.message, /^This trace is in quarantine/)
    }
    assert.is((await call('GET', '/v1/traces/bad')).status, 503, 'for strangers, too')
    assert.equal(await feedOf(app), ['good'])
    assert.equal(await feedOf(app, ada.token), ['good'])
    const listed = await call('GET', '/v1/traces', { token: ada.token })
    assert.equal((listed.data as { traces: unknown[] }).traces, [])

    assert.is((await put(app, ada, 'other')).status, 200)
    assert.is((await put(app, bob, 'good', { title: 'B' })).status, 200)
    const ready = await app.app.inject('/health/ready')
    assert.is(ready.statusCode, 200)
    assert.match(ready.body, `${stream} is in quarantine`)
    assert.match(await app.service.metrics.registry.metrics(), /tracebook_quarantined_streams\{group="main"\} 1/)
  })
}

test('no command on a stream in quarantine is decided, by any route', async (scene) => {
  const { traces } = scene.app.service
  const { stream } = await poison(scene, bad['that violates a constraint'])
  const command = { decide: () => assert.unreachable() as never, answer: () => {} }
  const error = await traces.transact(stream.slice('trace-'.length), command, {}).catch((error: unknown) => error)
  assert.instance(error, InQuarantine)
})

test('an event of a namespace that cannot be applied takes the namespace from its members, and nothing else', async (scene) => {
  const { app, ada, bob } = scene
  await put(app, bob, 'good', { visibility: 'public' })
  await put(app, ada, 'hers', { visibility: 'public' })
  const stream = `namespace-${ada.namespaceId}`
  const { log, visible } = app.service
  const { position } = await log.append(stream, (await log.last(stream))!.revision, [bad['of an unknown type']])
  await visible(position)
  for (const url of ['/v1/session', '/v1/traces/hers', `/v1/namespaces/${ada.namespaceSlug}`])
    assert.is((await app.call('GET', url, { token: ada.token })).status, 503, url)
  for (const url of ['/v1/traces/hers', `/v1/namespaces/${ada.namespaceSlug}/traces`])
    assert.is((await app.call('GET', url)).status, 503, url)
  assert.equal(await feedOf(app), ['good'])
  assert.is((await put(app, bob, 'good', { title: 'B' })).status, 200)
})

test('a rebuild meets the same events and ends with the same quarantine', async (scene) => {
  const { app, database } = scene
  await poison(scene, bad['that violates a constraint'])
  await poison(scene, bad['of an unknown type'], 'worse')
  const schema = schemaOf(mainGroup)
  const live = await dumpSchema(database.url, schema)
  assert.is(live.quarantine!.length, 2)
  const { log, codec } = app.service
  await rebuild({ url: database.url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(database.url, schema), live)
})

test('a rebuild that can apply the event ends the quarantine, on running nodes too', async (scene) => {
  const { app, database, ada, openNode } = scene
  const other = await openNode({ env: { ROLES: 'api' } })
  const schema = schemaOf(mainGroup)
  await put(app, ada, 'bad')
  await onServer(database.url, `alter table ${schema}.messages add constraint no_cats check (external_id <> 'cat')`)
  const write = (node: App, name: string) =>
    node.call('PUT', `/v1/traces/bad/messages/${name}`, { token: ada.token, body: { role: 'user' } })
  await write(app, 'cat')
  await until(async () => (await dumpSchema(database.url, schema)).quarantine!.length === 1)
  const { log, codec } = app.service
  await rebuild({ url: database.url, group: mainGroup, log, codec }) // without the constraint
  for (const [node, name] of [
    [other, 'dog'],
    [app, 'cow'],
  ] as const)
    await until(async () => (await write(node, name)).status === 200)
  const { data } = await app.call('GET', '/v1/traces/bad/messages', { token: ada.token })
  const names = (data as { messages: { externalId: string }[] }).messages.map(({ externalId }) => externalId)
  assert.equal(names, ['cat', 'dog', 'cow'])
})

test('a runner that starts in the middle of a replay takes over its result', async (scene) => {
  const { app, database, ada } = scene
  const { stream } = await poison(scene, bad['of an unknown type'])
  const schema = schemaOf(mainGroup)
  const replay = new pg.Client({ connectionString: database.url })
  await replay.connect()
  await replay.query('begin')
  await replay.query('select pg_advisory_xact_lock(hashtext($1))', [locks.swap(schema)])
  await replay.query(`delete from ${schema}.quarantine where stream = $1`, [stream])
  await endLeaderSession(replay, locks.runner(schema))
  const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and application_name = $1`
  await until(
    async () => (await onServer(database.url, waiting, [`tracebook projections ${schema}`])).rows.length === 1,
  )
  await replay.query('commit')
  await replay.end()
  await until(async () => (await app.call('GET', '/v1/traces/bad', { token: ada.token })).status === 200)
})

test('on another node and after a restart the stream stays in quarantine', async (scene) => {
  const { openNode, ada } = scene
  const other = await openNode({ env: { ROLES: 'api' } })
  await poison(scene, bad['of an unknown type'])
  await until(async () => (await other.call('GET', '/v1/traces/bad', { token: ada.token })).status === 503)
  assert.equal(await feedOf(other), [])
  await other.close()
  await scene.app.close()
  scene.app = await openNode()
  await until(async () => (await scene.app.call('GET', '/v1/traces/bad', { token: ada.token })).status === 503)
})

const skip = ({ service: { log, codec } }: App, stream: string, position: bigint) =>
  skipEvent(log, codec, {
    ...{ stream, position, by: 'an operator', why: 'a test' },
    ...{ now: Date.now, unskippable: new Map() },
  })

for (const [what, event] of Object.entries(bad)) {
  test(`after it is skipped an event ${what} affects nothing any more, also in a rebuild`, async (scene) => {
    const { app, ada, database } = scene
    const { stream, position } = await poison(scene, event)
    const { log, codec } = app.service
    await skip(app, stream, position)
    const head = await log.head()
    await until(async () => (await app.call('GET', '/v1/traces/bad')).status === 200)
    await skip(app, stream, position)
    assert.equal(await typesSince(log, head), [], 'a second time says nothing new')
    assert.equal(await feedOf(app), ['bad'])
    const { status } = await app.call('PUT', '/v1/traces/bad/messages/n', { token: ada.token, body: { role: 'user' } })
    assert.is(status, 200)
    const schema = schemaOf(mainGroup)
    const live = await dumpSchema(database.url, schema)
    assert.equal(live.quarantine, [])
    await rebuild({ url: database.url, group: mainGroup, log, codec })
    assert.equal(await dumpSchema(database.url, schema), live)
  })
}

test('a namespace whose event is skipped can be written to again', async ({ app, ada }) => {
  const stream = `namespace-${ada.namespaceId}`
  const { log, visible } = app.service
  const { position } = await log.append(stream, (await log.last(stream))!.revision, [bad['of an unknown type']])
  await visible(position)
  await skip(app, stream, position)
  const url = `/v1/namespaces/${ada.namespaceSlug}`
  await until(async () => (await app.call('GET', url, { token: ada.token })).status === 200)
  const { status } = await app.call('PATCH', url, { token: ada.token, body: { displayName: 'Again' } })
  assert.is(status, 200)
})

test('more than ten streams within a minute stop the projections with an error, and nothing is skipped', async (scene) => {
  const { app, ada, database } = scene
  await put(app, ada, 'before')
  const { log } = app.service
  for (let i = 0; i < 11; i++) await log.append(`trace-${randomUUID()}`, 'none', [eventOf('Exploded', {})])
  await until(async () => (await app.service.readiness()).missing.join().includes('projections have stopped'))
  assert.match(await app.service.metrics.registry.metrics(), /tracebook_projection_stopped\{group="main"\} 1/)
  const refused = await app.unrepeated(() => put(app, ada, 'after'))
  assert.is(refused.status, 503)
  assert.equal((refused.error as { details?: unknown }).details, { stored: false })
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  await sql.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'tracebook reads'`)
  await sql.end()
  await until(async () => (await app.call('GET', '/v1/traces/before', { token: ada.token })).status === 200)
})

test.run()
