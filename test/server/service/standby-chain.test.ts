import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openApp } from '../../support/open-app.ts'
import { startReplicatedServer } from '../../support/replicated-server.ts'
import { until } from '../../support/until.ts'
import { callerOf, signIn } from '../../support/world.ts'

const test = suite('a node that reads a standby of a standby')

const server = await startReplicatedServer()
const { url } = await server.newDatabase('service')
const primary = await openApp(url)
const { token, send } = await signIn(primary)
const readUrl = await server.chain('service')
const reader = await openApp(url, { env: { ROLES: 'api', DATABASE_URL: url, DATABASE_READ_URL: readUrl } })
const there = callerOf(reader, token)
test.after(async () => {
  await reader.close()
  await primary.close()
  await server.stop()
})

const isReady = async () => (await reader.service.readiness()).missing.length === 0
const untilNotReady = (reason: RegExp) =>
  until(async () => (await reader.service.readiness()).missing.some((problem) => reason.test(problem)))

const titleOf = async (id: string): Promise<string> =>
  (await there.send<{ trace: { title: string } }>('GET', `/v1/traces/${id}`)).trace.title

test('shows what it has answered, and what was written on the primary', async () => {
  for (let i = 0; i < 10; i++) {
    await there.send('PUT', '/v1/traces/own', { title: `own ${i}` })
    assert.is(await titleOf('own'), `own ${i}`)
  }
  await send('PUT', '/v1/traces/other', { title: 'other' })
  await until(async () => (await there.ask('GET', '/v1/traces/other')).status === 200)
})

test('is not read while the standby in between is away, and again when it is back', async () => {
  await server.kill()
  await send('PUT', '/v1/traces/other', { title: 'meanwhile' })
  await untilNotReady(/more than 5 s behind the primary/)
  await server.restart()
  await until(isReady)
  assert.is(await titleOf('other'), 'meanwhile')
})

test('is not read once the standby in between was promoted, which it follows', async () => {
  await server.promote()
  await send('PUT', '/v1/traces/other', { title: 'after' })
  await untilNotReady(/behind the primary|events that the log does not hold/)
  const { status } = await reader.unrepeated(() => there.ask('GET', '/v1/traces/other'))
  assert.is(status, 503)
})

test.run()
