import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { feedOf, insist } from '../../fault/support/answers.ts'
import { freshDatabase } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'

/** Positions of events that were lost are given to others: read models that have passed them have not seen these. */
const test = suite('engine: a node without a runner, with a log that has lost its end')

const path = (trace: string) => `/v1/traces/${trace}`
const shared = { visibility: 'public' }

test('answers no write until read models built from what is left hold it', async () => {
  const [double, database] = [await startDouble(), await freshDatabase({ readModels: false })]
  const lines: string[] = []
  const open = (env: Record<string, string> = {}) => {
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    return openApp(database.url, { env: { EVENTSTORE_URL: double.url, SUMMARY_PROVIDER: 'none', ...env }, logger })
  }
  const apps: App[] = []
  try {
    const builder = await open()
    const node = await open({ ROLES: 'api' })
    apps.push(node)
    const { data } = await node.call('POST', '/v1/session', { body: { deviceId: 'device' } })
    const { token } = (data as { session: { token: string } }).session
    const count = double.store.all().length
    for (let i = 0; i < 20; i++) await insist(node, 'PUT', path(`lost-${i}`), token, shared)
    await builder.close()
    await double.stop()
    double.store.keepFirst(count)
    await double.start()
    await until(() => lines.some((line) => line.includes('has lost its end')))

    const fresh = await node.unrepeated(() => node.call('PUT', path('fresh'), { token, body: shared }))
    assert.is(fresh.status, 503)

    apps.push(await open())
    await insist(node, 'PUT', path('other'), token, shared)
    await until(async () => (await node.service.readiness()).missing.length === 0)
    assert.not.ok((await feedOf(node)).some((name) => name.startsWith('lost')))
    assert.ok((await feedOf(node)).includes('other'))
  } finally {
    for (const app of apps) await app.close()
    await Promise.all([double.stop(), database.drop()])
  }
})

test.run()
