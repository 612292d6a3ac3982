import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newClockCheck } from '../../../src/eventstore/postgres/clock-check.ts'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { openEmptyWorld } from '../../support/world.ts'

const test = suite('postgres/clock-check')

const { database, openNode } = await openEmptyWorld(test)
const pool = newPool({ url: database.url, name: 'clock', max: 1, statementTimeoutMs: 5_000 })
test.after(() => pool.end())

const complaintOf = (ms: number) => newClockCheck({ pool, now: () => Date.now() + ms }).problem()

test('a clock that is a few seconds off is good enough', async () => {
  for (const ms of [-4_000, 0, 4_000]) assert.is(await complaintOf(ms), undefined)
})

test('a clock that is further off is reported', async () => {
  assert.match((await complaintOf(-60_000))!, /clock is (59|60) s behind the database/)
  assert.match((await complaintOf(60_000))!, /clock is (59|60|61) s ahead of the database/)
})

test('the time of the round trip to the database does not count as a difference', async () => {
  let late = 0
  const slow = {
    query: async (...asked: Parameters<typeof pool.query>) => {
      const answer = await (pool.query(...asked) as unknown as Promise<unknown>)
      late = 20_000
      return answer
    },
  } as unknown as typeof pool
  assert.is(await newClockCheck({ pool: slow, now: () => Date.now() + late }).problem(), undefined)
})

test('the clocks are compared now and then, not at each question', async () => {
  let times = 0
  const counted = {
    query: (...asked: Parameters<typeof pool.query>) => {
      times += 1
      return pool.query(...asked)
    },
  } as unknown as typeof pool
  const { problem: complaint } = newClockCheck({ pool: counted, now: () => 0, keepMs: 60_000 })
  await Promise.all(Array.from({ length: 5 }, complaint))
  assert.ok(await complaint())
  assert.is(times, 1)
})

test('the service is ready, and says what is wrong with its clock', async () => {
  const ready = async (now: () => number) => {
    const node = await openNode({ now })
    while ((await node.service.readiness()).missing.length > 0);
    const { statusCode, body } = await node.app.inject({ method: 'GET', url: '/health/ready' })
    await node.close()
    return [statusCode, JSON.parse(body).status, JSON.parse(body).degraded]
  }
  assert.equal(await ready(Date.now), [200, 'ready', undefined])
  const [status, word, degraded] = await ready(() => Date.now() - 3_600_000)
  assert.equal([status, word, degraded.length], [200, 'ready', 1])
  assert.match(degraded[0], /clock is 3\d+ s behind/)
})

test.run()
