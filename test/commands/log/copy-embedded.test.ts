import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { allOf, inFolder } from '../../eventstore/embedded/support.ts'
import { numbered } from '../../eventstore/log/support/events.ts'
import { freshDatabase } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { ask } from '../support/api.ts'
import { startService } from '../support/processes.ts'
import { run } from '../support/user.ts'

const test = suite('log copy from and to the embedded PostgreSQL')
delete process.env.TEST_LOG_URL // here the log is always in PostgreSQL

const copy = (dataDir: string, from: string, to: string, more: Record<string, string> = {}, ...options: string[]) =>
  run(['log', 'copy', '--from', from, '--to', to, ...options], { DATA_DIR: dataDir, ...more })

/** What answers have used, of which the first one's was written twice. */
const used: readonly object[] = [
  { inputTokens: 1_001, outputTokens: 61, cacheReadTokens: 2_001, reasoningTokens: 11, responseId: 'msg_1' },
  { outputTokens: Number.MAX_SAFE_INTEGER, costUsd: 0.000_000_012 },
]

/** A service with one session and one trace, which has two messages. */
const startWithTrace = async (dataDir: string) => {
  const service = await startService(dataDir)
  const { session } = await ask<{ session: { token: string } }>(service.url, '/v1/session', {
    method: 'POST',
    body: { deviceId: 'device' },
  })
  await ask(service.url, '/v1/traces/t', { token: session.token, method: 'PUT', body: { title: 'Moved' } })
  const write = async (...usages: object[]) => {
    const messages = usages.map((usage, i) => ({
      ...{ externalId: `m-${i}`, role: 'assistant' },
      textContent: 'hi',
      usage,
    }))
    await ask(service.url, '/v1/traces/t/messages/batch', { token: session.token, method: 'POST', body: { messages } })
  }
  await write({ outputTokens: 7 }, ...used.slice(1))
  await write(used[0]!)
  return { service, token: session.token }
}

test('moves a log out, while no service runs there, and into another DATA_DIR', () =>
  inFolder(async (folder) => {
    const [old, fresh, double] = [join(folder, 'old'), join(folder, 'new'), await startDouble()]
    const { service, token } = await startWithTrace(old)

    const refused = await copy(old, 'embedded', double.url)
    assert.is(refused.how, 1)
    assert.match(refused.err, `in use by process ${service.pid}`)
    assert.match(refused.err, 'Stop it first')
    assert.is((await fetch(`${service.url}/health/ready`)).status, 200)
    assert.is((await service.end('SIGTERM')).how, 0)

    const out = await copy(old, 'embedded', double.url)
    assert.is(out.how, 0)
    assert.match(out.err, /^The audit tree was not copied: .*\n.*\n$/)
    assert.equal(await allOf(old), [])
    const back = await copy(fresh, double.url, 'embedded')
    assert.is(back.how, 0)
    const database = await freshDatabase()
    const whole = await copy(old, 'embedded', database.url)
    assert.equal([whole.how, whole.err], [0, ''])
    assert.match(whole.out, /^Copied \d+ leaves of the audit tree\.$/m)
    const named = await copy(old, 'embedded', double.url, {}, '--target-database', database.url)
    assert.equal([named.how, named.err], [0, ''])
    await database.drop()
    assert.equal(await allOf(fresh), [])
    assert.is(/Verified: .*/.exec(back.out)![0], /Verified: .*/.exec(out.out)![0])

    const moved = await startService(fresh)
    const { trace } = await ask<{ trace: { title: string } }>(moved.url, '/v1/traces/t', { token })
    assert.is(trace.title, 'Moved')
    const { messages } = await ask<{ messages: { usage: object }[] }>(moved.url, '/v1/traces/t/messages', { token })
    assert.equal(
      messages.map(({ usage }) => usage),
      used,
    )
    await moved.end('SIGTERM')
    await double.stop()
  }))

test('makes no DATA_DIR to read from, and leaves its reserve of the disk free', () =>
  inFolder(async (folder) => {
    const [nowhere, target, double] = [join(folder, 'nowhere'), join(folder, 'target'), await startDouble()]
    const missing = await copy(nowhere, 'embedded', double.url)
    assert.is(missing.how, 1)
    assert.match(missing.err, `There is no PostgreSQL in ${nowhere}`)
    assert.match((await copy(nowhere, 'embedded', 'embedded')).err, '--from and --to are the same log')

    const log = openEventStoreLog({ url: double.url })
    await log.append('thing-1', 'none', numbered(1))
    await log.close()
    const full = await copy(target, double.url, 'embedded', { DISK_RESERVE_MB: `${2 ** 40}` })
    assert.is(full.how, 1)
    assert.match(full.err, 'is nearly full')
    assert.equal(await allOf(target), [])
    await double.stop()
  }))

test.run()
