import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { newLastUsedTimes } from '../../../src/server/session/last-used.ts'
import { freshDatabase } from '../../support/database.ts'

const test = suite('last-used times')
const database = await freshDatabase()
const pool = newPool({ url: database.url, name: 'test', max: 2 })
test.after(async () => {
  await pool.end()
  await database.drop()
})

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const stored = async () => {
  const { rows } = await pool.query('select session_id, last_used_at from tracebook.session_uses order by session_id')
  return rows.map((row) => [row.session_id, Number(row.last_used_at)])
}
const NEVER = 60 * 60 * 1_000
const uses = (given: Pick<pg.Pool, 'query'> = pool, keep?: number) =>
  newLastUsedTimes({ pool: given, now: () => 7, delayMs: NEVER, ...(keep === undefined ? {} : { maxPending: keep }) })

test('many uses are written as one row, whose time only moves forward', async () => {
  const { record, get: lastUsed, flush, close } = uses()
  for (const at of [1, 2, 3]) record(id(1), at)
  record(id(2))
  assert.is(lastUsed(id(1)), 3)
  await flush()
  assert.is(lastUsed(id(1)), undefined)
  record(id(1), 2)
  await close()
  assert.equal(await stored(), [
    [id(1), 3],
    [id(2), 7],
  ])
})

test('a use is shown while it is being written, and not lost when the database is away', async () => {
  let fail: (error: Error) => void = () => {}
  const broken = { query: () => new Promise((_, reject) => (fail = reject)) } as unknown as pg.Pool
  const { record, get: lastUsed, flush } = uses(broken, 2)
  record(id(3), 1)
  const flushing = flush()
  record(id(4), 2)
  assert.equal([lastUsed(id(3)), lastUsed(id(4))], [1, 2])
  fail(new Error('away'))
  await flushing
  assert.equal([lastUsed(id(3)), lastUsed(id(4))], [1, 2])
  record(id(5), 3)
  const kept = [3, 4, 5].filter((n) => lastUsed(id(n)) !== undefined)
  assert.is(kept.length, 2, 'no more than two wait')
})

test.run()
