import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SERVICE, actAs } from '../../../src/base/current-client.ts'
import { Busy, TICK_MS } from '../../../src/base/permits.ts'
import { REQUEST_WAIT_MS } from '../../../src/base/waits.ts'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../../support/database.ts'

const test = suite('postgres: pools whose connections go round by client')

const database = await freshDatabase()
test.after(() => database.drop())

const client = (name: string) => ({ id: `user:${name}`, net: 'net:192.0.2.1' })
const open = (max: number) => newPool({ url: database.url, name: 'a test', max })

test('a query waits behind those of its own client only; queries of no client are the own ones of the service', async () => {
  const pool = open(1)
  const held = await pool.connect()
  const answered: string[] = []
  const ask = async (name: string, text: string) => {
    await (name === SERVICE.id ? pool.query('select') : actAs(client(name), () => pool.query('select')))
    answered.push(text)
  }
  const all = ['a1', 'a2', 'a3', 'a4'].map((text) => ask('a', text))
  all.push(ask(SERVICE.id, 's1'), ask(SERVICE.id, 's2'), ask('b', 'b1'))
  assert.is(pool.permits.waiting(), 7)
  held.release()
  await Promise.all(all)
  assert.equal(answered, ['a1', 's1', 'b1', 's2', 'a2', 'a3', 'a4'])
  assert.equal([pool.permits.held(), pool.totalCount], [0, 1])
  await pool.end()
})

test('a connection is free again after an error of its query, and when it is lost or was never made', async () => {
  const pool = open(1)
  await pool.query('select 1/0').catch(() => {})
  const lost = await pool.connect()
  lost.release(true)
  const refused = newPool({ url: 'postgres://127.0.0.1:1/none', name: 'a test', max: 1 })
  for (const _ of [1, 2]) assert.is((await refused.query('select').catch((error) => error)).code, 'ECONNREFUSED')
  assert.equal([pool.permits.held(), refused.permits.held()], [0, 0])
  assert.is((await pool.query('select 1 as one')).rows[0].one, 1)
  await Promise.all([pool.end(), refused.end()])
})

test('a query that waits as long as a request may is refused, and says of what there is too much', async () => {
  const pool = open(1)
  const held = await pool.connect()
  const waiting = pool.query('select').catch((error: unknown) => error)
  for (let ticks = 0; ticks <= REQUEST_WAIT_MS / TICK_MS; ticks += 1) pool.permits.tick()
  const refusal = (await waiting) as Error
  assert.instance(refusal, Busy)
  assert.is(refusal.message, 'There are too many queries for a test, and no room came free in time: try again later')
  held.release()
  await pool.end()
})

test.run()
