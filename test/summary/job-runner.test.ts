import { suite } from 'uvu'
import { startJobRunner } from '../../src/summary/job-runner.ts'
import { TASK } from '../../src/summary/process-state.ts'
import { newProxy } from '../log/support/proxy.ts'
import { freshDatabase, onServer } from '../support/database.ts'

const test = suite('summary jobs')

for (const outcome of ['succeeded', 'failed'] as const) {
  test(`a database that goes away as a job has ${outcome} ends the runner, and not the process`, async () => {
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

test.run()
