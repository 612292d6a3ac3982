import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readModels } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { freshDatabase } from '../support/database.ts'
import { openApp } from '../support/open-app.ts'

const test = suite('readiness while read models are built')

test('gives the progress in percent', async () => {
  const database = await freshDatabase()
  const first = await openApp(database.url)
  await first.call('POST', '/v1/session', { body: { deviceId: 'device' } })
  await first.close()
  const blocker = new pg.Client({ connectionString: database.url })
  await blocker.connect()
  await blocker.query(`drop schema ${schemaOf(readModels)} cascade`)
  await blocker.query(`select pg_advisory_lock(hashtext('tracebook swap ${schemaOf(readModels)}'))`) // no batch is applied
  const app = await openApp(database.url, { env: { ROLES: 'api,projector' }, ready: false })
  try {
    let built: string | undefined
    while (built === undefined)
      built = (await app.service.readiness()).missing.find((reason) => reason.includes('being built'))
    assert.is(built, 'read models are being built: 0 %')
  } finally {
    await blocker.end()
    await app.close()
    await database.drop()
  }
})

test.run()
