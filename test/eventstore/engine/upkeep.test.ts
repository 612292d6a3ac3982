import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Upkeep } from '../../../src/eventstore/engine/projection.ts'
import { newUpkeep } from '../../../src/eventstore/engine/upkeep.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../../support/database.ts'
import { silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'

const test = suite('engine: upkeep')

const database = await freshDatabase()
const client = newClient(database.url, 'test')
await client.connect()
test.after(async () => {
  await client.end()
  await database.drop()
})

const openUpkeep = (upkeep: Upkeep, { waitMs }: { waitMs?: number } = {}) => {
  const projection = { name: 'any', tables: '', rows: {}, indexes: '', start: () => ({}), on: {}, write: () => {} }
  const group = { name: 'any', version: 1, projections: [{ ...projection, upkeep }] }
  return newUpkeep({
    url: database.url,
    group,
    schema: 'public',
    client,
    hasRoom: () => true,
    logger: silent,
    ...(waitMs === undefined ? {} : { waitMs }),
  })
}

const sessions = async () =>
  (await client.query(`select from pg_stat_activity where application_name = 'tracebook upkeep public'`)).rows.length

test('what is due is begun once, while it is not waited for, and is ended when the process does not lead any more', async () => {
  let begun = 0
  let isDue = false
  const { run, close } = openUpkeep({
    isDue: async (read) => (await read('', 'select 1', [])).length === 1 && isDue,
    run: async (own: pg.ClientBase) => {
      begun += 1
      await own.query('select pg_sleep(1000)')
      return true
    },
  })
  await run()
  assert.equal([begun, await sessions()], [0, 0])
  isDue = true
  await run()
  await until(() => begun === 1)
  await run()
  assert.equal([begun, await sessions()], [1, 1])
  await close()
  await until(async () => (await sessions()) === 0)
  await run()
  assert.is(begun, 1)
})

test('work that fails or has to wait is tried again by itself, until all is done', async () => {
  const works = [async () => false, () => Promise.reject(new Error('failed')), async () => true]
  let begun = 0
  const { run, close } = openUpkeep({ isDue: async () => true, run: () => works[begun++]!() }, { waitMs: 1 })
  await run()
  await until(() => begun === works.length)
  await close()
})

test('while work that failed or has to wait is put off, for a minute, none is begun', async () => {
  const works = [async () => false, () => Promise.reject(new Error('failed'))]
  for (const work of works) {
    let begun = 0
    const { run, close } = openUpkeep({ isDue: async () => true, run: () => (begun++, work()) })
    await run()
    await until(() => begun === 1)
    await until(async () => (await sessions()) === 0)
    await run()
    assert.is(begun, 1)
    await close()
  }
})

test.run()
