import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Client } from '../../../../src/base/permits.ts'
import { SERVICE, actAs, currentClient } from '../../../../src/base/current-client.ts'
import { newWakeUps } from '../../../../src/eventstore/log/postgres/wake-ups.ts'
import { newPool } from '../../../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'

const test = suite('log: postgres: wake-ups')

const database = await freshDatabase()
test.after(() => database.drop())

test('other processes are woken in the line of the service, not in that of the client whose append came first', async () => {
  const pool = newPool({ url: database.url, name: 'a test', max: 1 })
  const connected: Client[] = []
  pool.on('acquire', () => connected.push(currentClient()))
  const ignore = () => {}
  const wakeUps = newWakeUps(database.url, pool, { grown: ignore, truncated: ignore, renewed: ignore })
  actAs({ id: 'user:greedy', net: 'net:192.0.2.1' }, wakeUps.notify)
  await until(() => connected.length > 0)
  assert.equal(connected, [SERVICE])
  await wakeUps.close()
  await pool.end()
})

test.run()
