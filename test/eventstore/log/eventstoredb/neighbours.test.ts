import * as assert from 'uvu/assert'
import { onServer } from '../../../support/database.ts'
import { startNeighbour } from '../../../support/eventstoredb/neighbour.ts'
import type { Double } from '../../../support/eventstoredb/server.ts'
import type { App } from '../../../support/open-app.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { until } from '../../../support/until.ts'
import { type EmptyWorld, newEmptyWorld, signIn } from '../../../support/world.ts'

const test = eventStoreSuite('a service on an EventStoreDB of others')

let world: EmptyWorld
test.before.each(async () => void (world = await newEmptyWorld()))
test.after.each(() => world.close())

const MANY = 250_000

const open = ({ url }: Double) => world.openNode({ env: { EVENTSTORE_URL: url }, ready: false })

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
  assert.ok((await readUntilReady(app, double)) < FEW)
  await signIn(app)
})

test('a service whose events lie far apart becomes ready without reading what is between', async ({ double }) => {
  const first = await open(double)
  double.store.writeForeign(MANY / 2)
  const { token } = await signIn(first)
  await first.close()
  double.store.writeForeign(MANY / 2)
  const second = await open(double)
  assert.ok((await readUntilReady(second, double)) < FEW)
  assert.is((await second.call('PUT', '/v1/traces/t', { token, body: {} })).status, 200)
})

test('writes of other applications do not delay writes', async ({ double }) => {
  const { send } = await signIn(await open(double))
  const before = double.eventsRead()
  for (let i = 0; i < 5; i++) {
    double.store.writeForeign(MANY / 5)
    await send('PUT', `/v1/traces/t${i}`, {})
  }
  assert.ok(double.eventsRead() - before < FEW)
})

test('a service drops read models of an older version also while other applications write all the time', async ({
  double,
}) => {
  const neighbour = startNeighbour(double, 5)
  const { url } = world.database
  await onServer(url, 'create schema rm_0')
  await open(double)
  const left = async () => (await onServer(url, "select from pg_namespace where nspname = 'rm_0'")).rows.length
  try {
    await until(async () => (await left()) === 0)
  } finally {
    neighbour.stop()
  }
})

test.run()
