import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { startCatalogueProcess } from '../../../src/server/models/process.ts'
import type { RefreshResult } from '../../../src/server/models/refresh.ts'
import { SourceFailed } from '../../../src/server/models/source.ts'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const test = suite('model catalogue process')
const database = await freshDatabase()
const pool = newPool({ url: database.url, name: 'test', max: 2 })
test.after(async () => {
  await pool.end()
  await database.drop()
})

const DAY_MS = 24 * 60 * 60_000
const refreshed: RefreshResult = {
  providers: 1,
  models: 1,
  added: 1,
  updated: 0,
  removed: 0,
  etag: '"1"',
  position: 1n,
}
let now = 0
let asked: (string | undefined)[] = []
let answer: () => RefreshResult | 'same' = () => refreshed
let said: string[] = []
const logger = {
  info: (_: object, message: string) => void said.push(`info ${message}`),
  warn: (_: object, message: string) => void said.push(`warn ${message}`),
}
const refresh = async (_: string, etag: string | undefined) => {
  asked.push(etag)
  return answer()
}
/** A process that has begun to look. */
const process = async (source: string, isOn = true) => {
  const filled = Promise.resolve()
  const started = startCatalogueProcess({ pool, source, filled, refresh, now: () => now, logger }, isOn)
  await filled
  return started
}
/** Lets a process look once. */
const look = async (source: string) => {
  asked = []
  said = []
  await (await process(source)).close()
  return asked
}

test('a source that was never read is read at the start, by one worker', async () => {
  const [first, second] = await Promise.all([process('a'), process('a')])
  await Promise.all([first.close(), second.close()])
  assert.equal(asked, [undefined])
})
test('a source is read again after a day, with its ETag', async () => {
  now += DAY_MS - 1
  assert.equal(await look('a'), [])
  now += 1
  answer = () => 'same'
  assert.equal(await look('a'), ['"1"'])
  now += DAY_MS
  assert.equal(await look('a'), ['"1"'])
})
test('another source is read at once', async () => {
  answer = () => refreshed
  assert.equal(await look('b'), [undefined])
})
test('a source that fails is asked again in an hour', async () => {
  answer = () => {
    throw new SourceFailed('it answered 500')
  }
  now += DAY_MS
  const failing = await process('a')
  asked = []
  said = []
  await until(() => said.length > 0)
  await failing.close()
  assert.equal(said, ['warn the model catalogue cannot be read; the last good copy stays'])
  assert.equal(await look('a'), [])
  answer = () => refreshed
  now += DAY_MS / 24
  assert.equal(await look('a'), ['"1"'])
})
test('an outage of the service itself is not blamed on the source, and delays the next try by seconds only', async () => {
  answer = () => {
    if (asked.length < 3) throw new Unavailable('the read models are catching up')
    return refreshed
  }
  asked = []
  said = []
  const waiting = await process('d')
  while (said.length < 3) await new Promise((resolve) => setTimeout(resolve, 10))
  await waiting.close()
  const notYet = 'info the model registry cannot be refreshed yet'
  assert.equal(said, [notYet, notYet, 'info the model registry is fresh'])
  answer = () => refreshed
})
test('a process that is switched off, or not on a worker, reads nothing', async () => {
  assert.equal(await look('none'), [])
  await (await process('c', false)).close()
  assert.equal(asked, [])
})
test('the command reads the source regardless of its ETag', async () => {
  const off = await process('a', false)
  assert.equal(await off.refresh(), refreshed)
  assert.equal(asked, [undefined])
  await off.close()
})

test.run()
