import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshDatabase } from '../../support/database.ts'
import { watchLoop } from '../../support/watch-loop.ts'
import { openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { connect } from './support.ts'

const test = suite('realtime: clients that ask for too much')
const MiB = 1024 * 1024
const [USERS, SOCKETS] = [10, 200]
const database = await freshDatabase()
const { app, service, call, close } = await openApp(database.url)
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
test.after(async () => {
  await close()
  await database.drop()
})

const signIn = async (deviceId: string) => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId } })
  return (data as { session: { token: string } }).session.token
}

test('200 connections of 10 users with 20,000 subscriptions to large values hold up nobody', async () => {
  const tokens = await Promise.all(Array.from({ length: USERS }, (_, i) => signIn(`hostile ${i}`)))
  const shown = { token: tokens[0], body: { visibility: 'public' } }
  await call('PUT', '/v1/traces/shown', shown)
  const text = (order: number) => ({ role: 'user', order, textContent: 'x'.repeat(900_000) })
  for (let i = 0; i < 6; i++) await call('PUT', `/v1/traces/shown/messages/m${i}`, { ...shown, body: text(i) })
  const titled = (i: number) => ({
    token: tokens[i % USERS],
    body: { title: `${i}`.repeat(1_000), visibility: 'public' },
  })
  for (let i = 0; i < 300; i++) await call('PUT', `/v1/traces/${i}`, titled(i))

  const token = await signIn('somebody else')
  await call('PUT', '/v1/traces/mine', { token, body: {} })
  const honest = await connect(origin)
  honest.subscribe('s', 'traces:get', { externalId: 'mine', authToken: token })
  await until(() => honest.values('s').length > 0)

  const workerData = { address: `${origin.replace('http', 'ws')}/v1/realtime`, tokens, sockets: SOCKETS }
  const attackers = new Worker(new URL('hostile-sockets.ts', import.meta.url), { workerData })
  const got = async () => {
    attackers.postMessage('how many')
    return ((await once(attackers, 'message')) as [number])[0]
  }
  await until(async () => (await got()) > SOCKETS)
  const loop = watchLoop()
  for (let i = 0; i < 8; i++) {
    await call('PUT', `/v1/traces/${i}`, { token: tokens[0], body: { title: `changed ${i}`, visibility: 'public' } })
    await call('PUT', '/v1/traces/shown/messages/m0', { token: tokens[0], body: { order: i, role: 'user' } })
    const { status } = await call('PUT', `/v1/traces/mine/messages/m${i}`, { token, body: { role: 'user' } })
    assert.is(status, 200)
    const values = () => honest.values('s') as { messageCount?: number }[]
    await until(() => values().at(-1)?.messageCount === i + 1)
    assert.ok(service.permits.frames.held() <= 64 * MiB)
  }
  loop.stop()
  assert.ok(loop.longest() < 400, `${loop.longest()} ms`)
  await until(() => service.connections.counts().subscriptions === 100 * SOCKETS + 1)
  await attackers.terminate()
  honest.end()
})

test.run()
