import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { watchLoop } from '../../support/watch-loop.ts'
import { type Person, openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { connect } from './support.ts'

const test = suite('realtime: clients that ask for too much')
const MiB = 1024 * 1024
const [USERS, SOCKETS] = [10, 200]
const { node } = await openWorld(test)
const { service } = node
const origin = await node.app.listen({ host: '127.0.0.1', port: 0 })

test('200 connections of 10 users with 20,000 subscriptions to large values hold up nobody', async () => {
  const hostile = await Promise.all(Array.from({ length: USERS }, () => signIn(node)))
  const [first] = hostile as [Person]
  await first.newTrace({ visibility: 'public' }, [], 'shown')
  const text = (order: number) => ({ role: 'user', order, textContent: 'x'.repeat(900_000) })
  for (let i = 0; i < 6; i++) await first.send('PUT', `/v1/traces/shown/messages/m${i}`, text(i))
  for (let i = 0; i < 300; i++)
    await hostile[i % USERS]!.newTrace({ title: `${i}`.repeat(1_000), visibility: 'public' }, [], `${i}`)

  const another = await signIn(node)
  await another.newTrace({}, [], 'mine')
  const honest = await connect(origin)
  honest.subscribe('s', 'traces:get', { externalId: 'mine', authToken: another.token })
  await until(() => honest.values('s').length > 0)

  const tokens = hostile.map(({ token }) => token)
  const workerData = { address: `${origin.replace('http', 'ws')}/v1/realtime`, tokens, sockets: SOCKETS }
  const attackers = new Worker(new URL('hostile-sockets.ts', import.meta.url), { workerData })
  const got = async () => {
    attackers.postMessage('how many')
    return ((await once(attackers, 'message')) as [number])[0]
  }
  await until(async () => (await got()) > SOCKETS)
  const loop = watchLoop()
  for (let i = 0; i < 8; i++) {
    await first.ask('PUT', `/v1/traces/${i}`, { title: `changed ${i}`, visibility: 'public' })
    await first.send('PUT', '/v1/traces/shown/messages/m0', { order: i, role: 'user' })
    await another.send('PUT', `/v1/traces/mine/messages/m${i}`, { role: 'user' })
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
