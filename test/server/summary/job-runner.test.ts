import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startJobRunner } from '../../../src/server/summary/job-runner.ts'
import { TASK } from '../../../src/server/summary/process-state.ts'
import { newProxy } from '../../eventstore/log/support/proxy.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const test = suite('summary jobs')

for (const outcome of ['succeeded', 'failed'] as const) {
  test(`a database that becomes unreachable when a job has ${outcome} ends the runner, and not the process`, async () => {
    const database = await freshDatabase()
    const proxy = await newProxy(database.url)
    const run = async () => {
      proxy.set('refuse')
      if (outcome === 'failed') throw new Error('it did not work')
    }
    const jobs = await startJobRunner({
      url: proxy.url,
      connections: 3,
      concurrency: 1,
      run,
      logger: { debug: () => {} },
    })
    try {
      await onServer(database.url, `select graphile_worker.add_job('${TASK}', '{}')`)
      jobs.open()
      await jobs.ended
    } finally {
      await jobs.close()
      await proxy.close()
      await database.drop()
    }
  })
}

test('a stop while the database does not answer ends the runner, and not the process', async () => {
  const database = await freshDatabase()
  const proxy = await newProxy(database.url)
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const told: string[] = []
  const logger = { debug: (_: object, message: string) => void told.push(message) }
  const options = { url: proxy.url, connections: 3, concurrency: 1, run: async () => {}, logger }
  const jobs = await startJobRunner(options)
  try {
    proxy.set('stall') // as it begins to listen: whether it does, it never learns
    await until(async () => told.some((message) => message.startsWith('Worker connected')))
    jobs.open()
    await jobs.close()
    await jobs.ended
    await new Promise(setImmediate)
    assert.equal(unhandled, [])
  } finally {
    process.off('unhandledRejection', note)
    await proxy.close()
    await database.drop()
  }
})

test.run()
