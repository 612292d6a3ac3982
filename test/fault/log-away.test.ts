import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { rebuild } from '../../src/eventstore/engine/rebuild.ts'
import { dumpSchema } from '../support/dump-schema.ts'
import { onServer } from '../support/database.ts'
import { type Double, startDouble } from '../support/eventstoredb/server.ts'
import type { App } from '../support/open-app.ts'
import { sweepAll } from '../support/sweep.ts'
import { assertWhole, moreBatches, newWriter } from './support/writers.ts'
import { until } from '../support/until.ts'
import { WITH_WORKER, type World, newWorld, signIn } from '../support/world.ts'

const schema = schemaOf(mainGroup)

type Scene = World & { double: Double; app: App; token: string }

const test = suite<Scene>('a service whose log is away')
test.before.each(async (scene) => {
  scene.double = await startDouble()
  Object.assign(scene, await newWorld({ env: { ...WITH_WORKER, EVENTSTORE_URL: scene.double.url } }))
  scene.app = scene.node
  scene.token = (await signIn(scene.app)).token
})
test.after.each(async ({ double, close }) => {
  double.faults.resume()
  await close()
  await double.stop()
})

const isReady = async ({ service }: App) => (await service.readiness()).missing.length === 0
const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })

/** Everything that can be read, anew and from memory. */
const assertReadable = async ({ app }: App, token: string) => {
  const paths = ['session', 'sessions', 'user', 'namespaces', 'feed?limit=7', 'models', 'traces', 'traces/t']
  for (const path of [...paths, 'traces/t/messages?includeParts=true']) {
    const { statusCode, body } = await app.inject({ url: `/v1/${path}`, headers: headersOf(token) })
    assert.is(statusCode, 200, `${path}: ${body}`)
  }
  const { body } = await app.inject('/v1/feed')
  assert.equal(
    (JSON.parse(body).data as { traces: { externalId: string }[] }).traces.map(({ externalId }) => externalId),
    ['t'],
  )
}

/** Every kind of write is refused; gives what each says of whether it has been stored, by its path. */
const assertRefused = async ({ app, unrepeated }: App, token: string) => {
  const messages = [{ externalId: 'refused-too', role: 'user' }]
  const writes = [
    ['PUT', '/v1/traces/refused', {}],
    ['PUT', '/v1/traces/t/messages/refused', { role: 'user' }],
    ['POST', '/v1/traces/t/messages/batch', { messages }],
    ['PATCH', '/v1/traces/t', { title: 'refused' }],
    ['PATCH', '/v1/user', { displayName: 'refused' }],
    ['POST', '/v1/namespaces', { slug: 'refused', displayName: 'refused' }],
    ['POST', '/v1/session', { deviceId: 'refused' }],
  ] as const
  const answers = await unrepeated(() =>
    Promise.all(
      writes.map(([method, url, payload]) => app.inject({ method, url, payload, headers: headersOf(token) })),
    ),
  )
  const stored = answers.map(({ statusCode, headers, body }, i) => {
    assert.is(statusCode, 503, body)
    assert.ok(headers['retry-after'])
    return [writes[i]![1], JSON.parse(body).error.details.stored] as const
  })
  for (const [path, said] of stored) assert.ok([false, 'unknown'].includes(said), `${path}: ${said}`)
  return new Map<string, unknown>(stored)
}

/** Whether a trace, or a message of `t`, has been stored. */
const isThere = async ({ call }: App, token: string, path: string) => {
  if (!path.includes('/messages/')) return (await call('GET', path, { token })).status === 200
  const { data } = await call('GET', '/v1/traces/t/messages', { token })
  return (data as { messages: { externalId: string }[] }).messages.some(({ externalId }) => path.endsWith(externalId))
}

const ways = {
  'does not listen': {
    leave: (double: Double) => double.stop(),
    back: (double: Double) => double.start(),
  },
  'does not answer': {
    leave: ({ faults }: Double) => {
      for (const method of ['append', 'read', 'subscribe'] as const) faults.stall(method)
    },
    back: ({ faults }: Double) => faults.resume(),
  },
}

for (const [how, { leave, back }] of Object.entries(ways)) {
  test(`that ${how} goes on reading, refuses writes, and goes on by itself`, async (scene) => {
    const { app, double, database, token } = scene
    await app.call('PUT', '/v1/traces/t', { token, body: { visibility: 'public' } })
    await app.call('PUT', '/v1/traces/t/messages/m', { token, body: { role: 'user', textContent: 'hello' } })
    await leave(double)
    await assertReadable(app, token)
    const [stored, { missing }] = await Promise.all([assertRefused(app, token), app.service.readiness()])
    assert.match(missing.join(), 'the log cannot be reached')
    // Whatever connections the pool has lost, or lacks, are made anew.
    await onServer(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name in ('tracebook reads', 'tracebook long lists')`,
    )
    await Promise.all(Array.from({ length: 20 }, () => assertReadable(app, token)))
    assert.is((await app.app.inject('/health')).statusCode, 200)

    await back(double)
    await until(() => isReady(app))
    const { status } = await app.call('PUT', '/v1/traces/t/messages/n', { token, body: { role: 'user' } })
    assert.is(status, 200)
    for (const path of ['/v1/traces/refused', '/v1/traces/t/messages/refused'])
      if (stored.get(path) === false)
        assert.not.ok(await isThere(app, token, path), `${path} was said not to be stored`)
    await assertReadable(app, token)
  })
}

test('that restarts and breaks off under writers loses nothing and repeats nothing', async (scene) => {
  const { app, double, database, token } = scene
  const writers = Array.from({ length: 4 }, () => newWriter(() => app, token))
  for (const round of [0, 1, 2, 3, 4, 5]) {
    await moreBatches(writers, 3)
    if (round % 3 === 0) await double.reset()
    if (round % 3 === 1) double.faults.forgetNext('reset', 2)
    if (round % 3 === 2) {
      await double.stop()
      await double.start()
    }
  }
  await moreBatches(writers, 3)
  await Promise.all(writers.map(({ stop }) => stop()))
  await until(() => isReady(app))
  for (const writer of writers) await assertWhole(app, token, writer)
  await sweepAll(database.url)
  const live = await dumpSchema(database.url, schema)
  const { log, codec } = app.service
  await rebuild({ url: database.url, group: mainGroup, log, codec })
  assert.equal(await dumpSchema(database.url, schema), live)
})

test.run()
