import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { documentsIn } from '../support/documents.ts'
import { startService } from '../support/processes.ts'
import { run } from '../support/user.ts'

const test = suite('tracebook doctor, without DATABASE_URL')

test('examines the database of DATA_DIR and its disk, whether a service runs there or not, and says so where there is none', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'data')
    const ask = async (more = {}) => {
      const { how, out } = await run(['doctor', '--json'], { DATA_DIR: dataDir, ...more })
      const [document] = documentsIn(out) as unknown as [
        { message: string; limits: { name: string; days?: number; unknown?: string }[] },
      ]
      return { how, ...document, limit: (wanted: string) => document.limits.find(({ name }) => name === wanted)! }
    }
    const service = await startService(dataDir)
    const running = await ask()
    assert.equal([running.how, running.limit('lag').unknown], [0, undefined])
    assert.match(running.limit('disk').unknown!, 'the growth is not known yet')
    await service.end('SIGTERM')
    const stopped = await ask({ DISK_RESERVE_MB: `${2 ** 40}` })
    assert.equal([stopped.how, stopped.limit('disk').days], [3, 0])
    assert.is(stopped.limit('lag').unknown, 'no process of the service runs')
    const { how, message } = await ask({ DATA_DIR: join(folder, 'none') })
    assert.is(how, 1)
    assert.match(message, 'There is no PostgreSQL in')
  }))

test.run()
