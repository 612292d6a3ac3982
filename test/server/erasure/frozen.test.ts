import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { serveOn } from '../../fault/support/service.ts'
import { onServer } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'
import { openEmptyWorld, signIn } from '../../support/world.ts'
import { eventsOf, notedIn, writeTrace } from './support.ts'
import { until } from '../../support/until.ts'

const test = suite('erasure: a frozen worker')
const { database, openNode } = await openEmptyWorld(test)

const leads = `
  select from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and a.application_name = 'tracebook erasure'
    and a.datname = current_database()`

test('another worker takes over from a frozen one, which does no harm when it wakes up', () =>
  inFolder(async (folder) => {
    const { url } = database
    await openNode({ env: { ROLES: 'api,projector' } })
    const first = await serveOn(folder, { ...logEnvironment(url), DATABASE_URL: url, ROLES: 'api,worker' })
    await until(async () => (await onServer(url, leads)).rows.length === 1)
    const second = await openNode({ env: { ROLES: 'api,worker' } })
    try {
      const owner = await signIn(second)
      const id = await writeTrace(owner, 't', 'old')
      const remove = async () => {
        await owner.send('DELETE', '/v1/traces/t')
        await until(async () => (await notedIn(database)).length === 0 && (await eventsOf(second, id)).length === 1)
      }
      process.kill(first.pid, 'SIGSTOP')
      await remove()
      process.kill(first.pid, 'SIGCONT')
      await until(first.isReady)
      await writeTrace(owner, 't', 'new')
      const events = await eventsOf(second, id)
      assert.equal(events, ['TraceDeleted', 'TraceCreated', 'MessageAdded', 'MessagesCounted'])
      await remove()
    } finally {
      process.kill(first.pid, 'SIGCONT')
      await first.end('SIGKILL')
    }
  }))

test.run()
