import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { newProxy } from '../eventstore/log/support/proxy.ts'
import { freshDatabase } from '../support/database.ts'
import { startDouble } from '../support/eventstoredb/server.ts'
import { until } from '../support/until.ts'
import { serveOn } from './support/service.ts'

const test = suite('a service that is opened again, because its log has changed')

test('stops with exit code 0 on SIGTERM, also while its database is away', () =>
  inFolder(async (folder) => {
    const [database, double] = [await freshDatabase(), await startDouble()]
    const proxy = await newProxy(database.url)
    const env = { DATABASE_URL: proxy.url, EVENTSTORE_URL: double.url, SUMMARY_PROVIDER: 'none' }
    const service = await serveOn(folder, env)
    try {
      await service.signIn('device')
      proxy.set('refuse')
      proxy.cut()
      const log = openEventStoreLog({ url: double.url })
      await log.renewEpoch((await log.identity()).epoch)
      await log.close()
      const readiness = () => fetch(`${service.url}/health/ready`).then((answer) => answer.text())
      await until(async () => (await readiness().catch(() => '')).includes('opened again'))
      assert.is(await service.end('SIGTERM'), 0)
      assert.match(service.output(), /"stopped"/)
      assert.not.match(service.output(), /takes too long/)
    } finally {
      await service.end('SIGKILL')
      await Promise.all([double.stop(), proxy.close()])
      await database.drop()
    }
  }))

test.run()
