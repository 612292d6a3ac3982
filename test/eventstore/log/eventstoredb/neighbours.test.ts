import * as assert from 'uvu/assert'
import { type Database, freshDatabase, onServer } from '../../../support/database.ts'
import { startNeighbour } from '../../../support/eventstoredb/neighbour.ts'
import type { Double } from '../../../support/eventstoredb/server.ts'
import { type App, openApp } from '../../../support/open-app.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { until } from '../../../support/until.ts'

const test = eventStoreSuite('a service on an EventStoreDB of others')

let database: Database
test.before.each(async () => void (database = await freshDatabase()))
test.after.each(() => database.drop())

const MANY = 250_000

const open = ({ url }: Double) => openApp(database.url, { env: { EVENTSTORE_URL: url }, ready: false })

const signIn = async ({ call }: App, deviceId: string) => {
  const { status, data } = await call('POST', '/v1/session', { body: { deviceId } })
  assert.is(status, 200)
  return (data as { session: { token: string } }).session
}

/**
 * Waits until the service is ready; gives how many events it has read from the log meanwhile. How many reads there were would say how long it
 * took: followers ask again and again for what comes after the end.
 */
const readUntilReady = async ({ service }: App, { eventsRead }: Double) => {
  const before = eventsRead()
  await until(async () => (await service.readiness()).missing.length === 0)
  return eventsRead() - before
}

const FEW = MANY / 5

test('a new service becomes ready and writes without reading the events of other applications', async ({ double }) => {
  double.store.writeForeign(MANY)
  const app = await open(double)
  try {
    assert.ok((await readUntilReady(app, double)) < FEW)
    await signIn(app, 'device')
  } finally {
    await app.close()
  }
})

test('a service whose events lie far apart becomes ready without reading what is between', async ({ double }) => {
  const first = await open(double)
  double.store.writeForeign(MANY / 2)
  const { token } = await signIn(first, 'device')
  await first.close()
  double.store.writeForeign(MANY / 2)
  const second = await open(double)
  try {
    assert.ok((await readUntilReady(second, double)) < FEW)
    assert.is((await second.call('PUT', '/v1/traces/t', { token, body: {} })).status, 200)
  } finally {
    await second.close()
  }
})

test('writes of other applications do not delay writes', async ({ double }) => {
  const app = await open(double)
  try {
    const { token } = await signIn(app, 'device')
    const before = double.eventsRead()
    for (let i = 0; i < 5; i++) {
      double.store.writeForeign(MANY / 5)
      assert.is((await app.call('PUT', `/v1/traces/t${i}`, { token, body: {} })).status, 200)
    }
    assert.ok(double.eventsRead() - before < FEW)
  } finally {
    await app.close()
  }
})

test('a service drops read models of an older version also while other applications write all the time', async ({
  double,
}) => {
  const neighbour = startNeighbour(double, 5)
  await onServer(database.url, 'create schema rm_0')
  const app = await open(double)
  const left = async () => (await onServer(database.url, "select from pg_namespace where nspname = 'rm_0'")).rows.length
  try {
    await until(async () => (await left()) === 0)
  } finally {
    neighbour.stop()
    await app.close()
  }
})

test.run()
