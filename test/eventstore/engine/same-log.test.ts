import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import { rebuild } from '../../../src/eventstore/engine/rebuild.ts'
import { WrongLog } from '../../../src/eventstore/engine/same-log.ts'
import { formats } from '../../../src/server/events.ts'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { openPostgresLog } from '../../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { onServer } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { until } from '../../support/until.ts'
import { newEmptyWorld, signIn } from '../../support/world.ts'

const schema = schemaOf(mainGroup)

/** A service on a database of its own that has written as many events as every other one of these. */
const openWritten = async (env: Record<string, string>) => {
  const world = await newEmptyWorld({ readModels: false, env })
  await onServer(world.database.url, 'update log.identity set id = gen_random_uuid()') // all are clones of one template
  const app = await world.openNode()
  const { token, send } = await signIn(app)
  for (let i = 0; i < 5; i++) await send('PUT', `/v1/traces/t${i}`, {})
  return { ...world, app, token }
}

/** An address behind which one server or another one can be. */
const openAddress = async (first: number) => {
  let target = first
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const onward = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => {}).on('close', () => (sockets.delete(one), other.destroy()))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const lead = (to: number) => {
    target = to
    for (const socket of [...sockets]) socket.destroy()
  }
  const close = () => {
    server.close()
    lead(target)
  }
  return { url: `esdb://127.0.0.1:${(server.address() as AddressInfo).port}?tls=false`, lead, close }
}

const test = suite('engine/same-log')

const isWrongLog = (error: unknown) => error instanceof WrongLog && error.message.includes('EVENTSTORE_URL')

const refused = (work: Promise<unknown>) =>
  work.then(
    () => assert.unreachable('it was not refused'),
    (error: unknown) => assert.ok(isWrongLog(error), String(error)),
  )

test('a service refuses to start with read models that are ahead of its log, and rebuilds none', async () => {
  const double = await startDouble()
  const { database, openNode, close } = await newEmptyWorld({ readModels: false, env: { EVENTSTORE_URL: double.url } })
  try {
    const service = await openNode()
    await signIn(service)
    await service.close()
    const before = await dumpSchema(database.url, schema)
    assert.is(before.sessions!.length, 1)

    await refused(openNode({ env: { EVENTSTORE_URL: '' } }))
    const log = wholeAppends(openPostgresLog({ url: database.url }))
    const codec = newCodec(formats)
    await refused(rebuild({ url: database.url, group: mainGroup, log, codec })).finally(() => log.close())
    assert.equal(await dumpSchema(database.url, schema), before)

    const its = wholeAppends(openEventStoreLog({ url: double.url }))
    await rebuild({ url: database.url, group: mainGroup, log: its, codec }).finally(() => its.close())
    assert.equal(await dumpSchema(database.url, schema), before)
    await openNode()
  } finally {
    await close()
    await double.stop()
  }
})

test('two logs in EventStoreDB with as many events at the same positions are distinguished', async () => {
  const [double, other] = [await startDouble(), await startDouble()]
  const [one, two] = [
    await openWritten({ EVENTSTORE_URL: double.url }),
    await openWritten({ EVENTSTORE_URL: other.url }),
  ]
  try {
    assert.is(await one.app.service.log.head(), await two.app.service.log.head())
    await one.app.close()
    const before = await dumpSchema(one.database.url, schema)
    const held = other.store.all().length
    await refused(one.openNode({ env: { EVENTSTORE_URL: other.url } }))
    const log = wholeAppends(openEventStoreLog({ url: other.url }))
    await refused(
      rebuild({ url: one.database.url, group: mainGroup, log, codec: newCodec(formats) }).finally(() => log.close()),
    )
    assert.equal(await dumpSchema(one.database.url, schema), before)
    assert.is(other.store.all().length, held)
    await one.openNode()
  } finally {
    for (const { close } of [one, two]) await close()
    await Promise.all([double.stop(), other.stop()])
  }
})

test('another log in PostgreSQL with as many events at the same positions is refused', async () => {
  const env = { EVENTSTORE_URL: '' }
  const [one, two] = [await openWritten(env), await openWritten(env)]
  try {
    assert.is(await one.app.service.log.head(), await two.app.service.log.head())
    await Promise.all([one.app.close(), two.app.close()])
    const before = await dumpSchema(one.database.url, schema)
    for (const table of ['log.appends', 'log.identity']) {
      const { rows } = await onServer(two.database.url, `select json_agg(t)::text as all from ${table} t`)
      await onServer(one.database.url, `delete from ${table}`)
      const into = `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`
      await onServer(one.database.url, into, [rows[0]!.all])
    }
    await refused(one.openNode())
    assert.equal(await dumpSchema(one.database.url, schema), before)
  } finally {
    for (const { close } of [one, two]) await close()
  }
})

for (const roles of ['api,projector,worker', 'api'])
  test(`a running service (${roles}) refuses another log at the same address until its own is back`, async () => {
    const [double, other] = [await startDouble(), await startDouble()]
    const address = await openAddress(double.port)
    const [one, two] = [
      await openWritten({ EVENTSTORE_URL: double.url }),
      await openWritten({ EVENTSTORE_URL: other.url }),
    ]
    const app = await one.openNode({ env: { EVENTSTORE_URL: address.url, ROLES: roles } })
    const { database, token } = one
    const put = () => app.unrepeated(() => app.call('PUT', '/v1/traces/new', { token, body: {} }))
    const says = async () => (await app.service.readiness()).missing.join()
    try {
      await two.app.close()
      if (roles !== 'api') await one.app.close()
      const before = await dumpSchema(database.url, schema)
      const held = other.store.all().length
      address.lead(other.port)
      await until(async () => {
        await put()
        return (await says()).includes('belong to another log')
      })
      assert.is((await put()).status, 503)
      assert.is((await app.call('GET', '/v1/traces/t1', { token })).status, 200)
      assert.is(other.store.all().length, held)
      assert.equal(await dumpSchema(database.url, schema), before)
      address.lead(double.port)
      await until(async () => (await says()) === '')
      // Each connection that finds the log changed has it verified once more.
      await until(async () => (await put()).status !== 503)
      assert.is((await put()).status, 200)
    } finally {
      for (const { close } of [one, two]) await close()
      address.close()
      await Promise.all([double.stop(), other.stop()])
    }
  })

test.run()
