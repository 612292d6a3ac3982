import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer } from '../../support/database.ts'
import { logEnvironment } from '../../support/log-place.ts'
import type { App } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { WITH_WORKER, newWorld, signIn } from '../../support/world.ts'
import { ask } from '../support/api.ts'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { startService } from '../support/processes.ts'
import { run } from '../support/user.ts'

const test = suite('tracebook log restored')

const restored = (environment: Record<string, string>) => run(['log', 'restored'], environment)

/** The id of the log that the command tells. */
const told = ({ how, out, err }: Awaited<ReturnType<typeof restored>>): string => {
  assert.equal([how, err], [0, ''])
  return /its logId is ([0-9a-f-]{36}) now/.exec(out)![1]!
}

test('nodes that run show another logId of the same log, take writes, and erase what is deleted', async () => {
  const { database, node: first, openNode, close } = await newWorld({ env: WITH_WORKER })
  const environment = { DATABASE_URL: database.url, ...logEnvironment(database.url) }
  try {
    const nodes = [first, await openNode({ env: { ROLES: 'api' } })]
    const { token, ask: askFirst } = await signIn(first)
    /** Undefined while the node leaves the connections to the log of before, and answers 503. */
    const logIdOf = async ({ call }: App) =>
      ((await call('GET', '/v1/session', { token })).data as { logId: string } | undefined)?.logId
    const put = ({ call }: App, trace: string) => call('PUT', `/v1/traces/${trace}`, { token, body: {} })
    for (const trace of ['kept', 'gone']) assert.is((await put(first, trace)).status, 200)
    const before = await logIdOf(first)
    const serviceOf = async ({ call }: App) => (await call('GET', '/v1/service')).data
    const service = await serviceOf(first)

    const logId = told(await restored(environment))
    assert.is.not(logId, before)
    for (const node of nodes) {
      await until(async () => (await logIdOf(node)) === logId)
      await until(async () => (await put(node, 'kept')).status === 200)
      assert.equal(await serviceOf(node), service)
    }
    await askFirst('DELETE', '/v1/traces/gone')
    assert.is((await askFirst('GET', '/v1/traces/gone')).status, 404)
    await until(async () => (await onServer(database.url, 'select from tracebook.erasures')).rows.length === 0)
    assert.equal((await first.service.readiness()).missing, [])
    assert.is.not(told(await restored(environment)), logId, 'each time another one')
  } finally {
    await close()
  }
})

test('works on DATA_DIR, whether its service runs or not', () =>
  inFolder(async (folder) => {
    const environment = { DATA_DIR: `${folder}/data`, ...logEnvironment(`${folder}/data`) }
    const none = await restored({ DATA_DIR: environment.DATA_DIR })
    assert.is(none.how, 1)
    assert.match(none.err, 'There is no PostgreSQL in')

    const service = await startService(environment.DATA_DIR)
    const body = { deviceId: 'device' }
    const { session } = await ask<{ session: { token: string } }>(service.url, '/v1/session', { method: 'POST', body })
    const logIdAt = async (url: string) =>
      (await ask<{ logId: string }>(url, '/v1/session', { token: session.token })).logId
    const running = told(await restored(environment))
    // While the service leaves the connections to the log of before, it may answer 503.
    await until(async () => (await logIdAt(service.url).catch(() => undefined)) === running)
    const ended = await service.end('SIGTERM')
    assert.is(ended.how, 0)
    assert.not.match(ended.out, '"level":50', 'a restore that was wanted is no error')

    const stopped = told(await restored(environment))
    assert.is.not(stopped, running)
    const again = await startService(environment.DATA_DIR)
    assert.is(await logIdAt(again.url), stopped)
    await again.end('SIGTERM')
  }))

test.run()
