import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { logEnvironment } from '../../support/log-place.ts'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { startService } from '../support/processes.ts'
import { run } from '../support/user.ts'

const test = suite('tracebook log quarantine, replay and skip, without DATABASE_URL')

test('find the service that runs on DATA_DIR, and say so when none does', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const service = await startService(dataDir)
    const ask = (...words: string[]) => run(['log', ...words], { DATA_DIR: dataDir, ...logEnvironment(dataDir) })
    assert.is((await ask('quarantine')).how, 0)
    assert.match((await ask('replay', `trace-${randomUUID()}`)).err, 'is not in quarantine')
    await service.end('SIGTERM')
    for (const words of [['quarantine'], ['replay', 'trace-x'], ['skip', '--position', '1', '--why', 'x']]) {
      const { how, err } = await ask(...words)
      assert.is(how, 1)
      assert.match(err, `No service is running on ${dataDir}`)
    }
  }))

test.run()
