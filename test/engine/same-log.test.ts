import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readModels } from '../../projections/index.ts'
import { newCodec } from '../../src/engine/codec.ts'
import { rebuild } from '../../src/engine/rebuild.ts'
import { OtherLog } from '../../src/engine/same-log.ts'
import { formats } from '../../src/events.ts'
import { openEventStoreLog } from '../../src/log/eventstoredb/eventstoredb-log.ts'
import { openPostgresLog } from '../../src/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/log/whole-appends.ts'
import { dumpSchema } from '../support/compare.ts'
import { freshDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb/server.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('engine/same-log')

const isOtherLog = (error: unknown) => error instanceof OtherLog && error.message.includes('EVENTSTORE_URL')

const refused = (work: Promise<unknown>) =>
  work.then(
    () => assert.unreachable('it was not refused'),
    (error: unknown) => assert.ok(isOtherLog(error), String(error)),
  )

test('a service does not go on with read models that have seen more than its log holds, and rebuilds none', async () => {
  const [database, double] = [await freshDatabase(), await startDouble()]
  const env = { EVENTSTORE_URL: double.url }
  try {
    const service = await openApp(database.url, { env })
    await service.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
    await service.close()
    const before = await dumpSchema(database.url, 'rm_2')
    assert.is(before.sessions!.length, 1)

    await refused(openApp(database.url, { env: { EVENTSTORE_URL: '' } }))
    const log = wholeAppends(openPostgresLog({ url: database.url }))
    const codec = newCodec(formats)
    await refused(rebuild({ url: database.url, group: readModels, log, codec })).finally(() => log.close())
    assert.equal(await dumpSchema(database.url, 'rm_2'), before)

    const its = wholeAppends(openEventStoreLog({ url: double.url }))
    await rebuild({ url: database.url, group: readModels, log: its, codec }).finally(() => its.close())
    assert.equal(await dumpSchema(database.url, 'rm_2'), before)
    await (await openApp(database.url, { env })).close()
  } finally {
    await double.stop()
    await database.drop()
  }
})

test.run()
