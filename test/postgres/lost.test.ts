import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApplyingClient, newPool } from '../../src/postgres/connect.ts'
import { sessionOf, untilAnswered } from '../../src/postgres/lost-answer.ts'
import { newProxy } from '../log/support/proxy.ts'
import { type Database, freshDatabase, onServer } from '../support/database.ts'

type Scene = { database: Database; proxy: Awaited<ReturnType<typeof newProxy>> }

const test = suite<Scene>('connections that are lost without a word')
test.before.each(async (scene) => {
  scene.database = await freshDatabase()
  scene.proxy = await newProxy(scene.database.url)
})
test.after.each(async ({ database, proxy }) => {
  await proxy.close()
  await database.drop()
})

const STATEMENT_MS = 300

test('a pool whose connections are all lost loses one round of requests, not one for each', async ({ proxy }) => {
  const pool = newPool(proxy.url, 'test', 4, STATEMENT_MS)
  const ask = () => pool.query('select pg_sleep(0.01)')
  await Promise.all(Array.from({ length: 4 }, ask))
  assert.is(pool.totalCount, 4)
  proxy.forget()
  const first = await ask().catch((error: Error) => error)
  assert.instance(first, Error)
  for (let i = 0; i < 4; i++) await ask()
  await pool.end()
})

const connected = async ({ proxy }: Scene) => {
  const client = newApplyingClient(proxy.url, 'public')
  client.on('error', () => {})
  await client.connect()
  return client
}

test('work whose answer is lost fails, and its session is ended with its locks', async (scene) => {
  const client = await connected(scene)
  await client.query('select pg_advisory_lock(1)')
  scene.proxy.forget()
  const lost = untilAnswered(scene.proxy.url, client, sessionOf(client), client.query('select 1'))
  assert.instance(await lost.catch((error: Error) => error), Error)
  // A session's locks outlive the order to end for a moment: this waits for them.
  await onServer(scene.database.url, 'select pg_advisory_lock(1)')
})

test('work that takes long is waited for', async (scene) => {
  const client = await connected(scene)
  const slow = client.query<{ one: number }>('select 1 as one, pg_sleep(5)')
  const { rows } = await untilAnswered(scene.proxy.url, client, sessionOf(client), slow)
  assert.is(rows[0]!.one, 1)
  await client.end()
})

test.run()
