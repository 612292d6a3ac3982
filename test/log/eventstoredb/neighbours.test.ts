import * as assert from 'uvu/assert'
import { type Database, freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { until } from '../../support/until.ts'

const test = eventStoreSuite('a service on an EventStoreDB of others')

let database: Database
test.before.each(async () => void (database = await freshDatabase()))
test.after.each(() => database.drop())

test('a new service is ready without reading what others have written', async ({ double }) => {
  double.store.writeForeign(100_000)
  const { service, call, close } = await openApp(database.url, { env: { EVENTSTORE_URL: double.url }, ready: false })
  try {
    let looks = 0 // each asks the log for its head
    await until(async () => ((looks += 1), (await service.readiness()).missing.length === 0))
    assert.ok(double.faults.count('read') - looks < 100, 'in pages of 1,000 it would be at least as many')
    assert.is((await call('POST', '/v1/session', { body: { deviceId: 'device' } })).status, 200)
  } finally {
    await close()
  }
})

test.run()
