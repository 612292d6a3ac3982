import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type LeaderProcess,
  type LeaderProcessOptions,
  startLeaderProcess,
} from '../../../src/eventstore/engine/leader-process.ts'
import type { OutageLog } from '../../../src/eventstore/engine/outage.ts'
import { pause } from '../../../src/base/waits.ts'
import { newProxy } from '../log/support/proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const test = suite('engine: a process that leads')
const database = await freshDatabase()
const proxy = await newProxy(database.url)
test.after(async () => {
  await proxy.close()
  await database.drop()
})

const HOUR = 60 * 60 * 1_000

/** A process whose failures and outages are noted. */
const start = (lock: string, work: LeaderProcessOptions['work'], retryMs = 0) => {
  const noted: string[] = []
  const outage: OutageLog = { failed: () => void noted.push('outage'), recovered: () => {} }
  const onFailure = ({ message }: Error) => {
    noted.push(message)
    return retryMs
  }
  const process = startLeaderProcess({ url: proxy.url, name: 'test', lock, work, onFailure, outage })
  return { ...process, noted }
}

/** Works until it is told to stop; counts those who do. */
const newWorkers = () => {
  const workers = { now: 0, most: 0, begun: 0 }
  const work: LeaderProcessOptions['work'] = async (_, signal) => {
    workers.now += 1
    workers.begun += 1
    workers.most = Math.max(workers.most, workers.now)
    await pause(HOUR, signal)
    workers.now -= 1
  }
  return { workers, work }
}

test('only one works at a time; when it is closed another takes over, until all are closed', async () => {
  const { workers, work } = newWorkers()
  let processes: LeaderProcess[] = [start('turns', work), start('turns', work), start('turns', work)]
  while (processes.length > 0) {
    const left = processes.length
    await until(() => workers.now === 1)
    assert.is(workers.most, 1)
    const [first, ...others] = processes
    await first!.close()
    processes = others
    if (left === 1) assert.is(workers.now, 0)
  }
})

test('work that fails starts again, and so does work whose database session is lost', async () => {
  const { workers, work } = newWorkers()
  let isFirst = true
  const process = start('again', async (session, signal) => {
    if (!isFirst) {
      await work(session, signal)
      return signal.throwIfAborted()
    }
    isFirst = false
    throw new Error('the first time')
  })
  await until(() => workers.now === 1)
  assert.equal(process.noted, ['the first time'])
  proxy.cut()
  await until(() => workers.begun === 2)
  assert.equal(process.noted, ['the first time', 'outage'])
  await process.close()
  assert.is(workers.now, 0)
})

test('it closes while it waits after a failure, for another leader, or for a long statement', async () => {
  let isAsking = false
  const asks: LeaderProcessOptions['work'] = async ({ client }) => {
    isAsking = true
    await client.query('select pg_sleep(3600)')
  }
  const [asking, waiting] = [start('close', asks), start('close', asks)]
  const failing = start('failing', () => Promise.reject(new Error('always')), HOUR)
  await until(() => isAsking && failing.noted.length === 1)
  await Promise.all([asking, waiting, failing].map(({ close }) => close()))
  assert.equal([...asking.noted, ...waiting.noted, ...failing.noted], ['always'])
})

test.run()
