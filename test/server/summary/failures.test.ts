import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newProxy } from '../../eventstore/log/support/proxy.ts'
import { openEndpoint, startWorker } from './endpoint.ts'
import { newScene } from './support.ts'
import { runs } from '../../support/runs.ts'
import { until } from '../../support/until.ts'

const ROUNDS = runs(2)

type Context = Awaited<ReturnType<typeof newScene>>
const test = suite<Context>('failing summaries')

const endpoint = await openEndpoint()
const { env, asking, asked, set } = endpoint
test.before.each(async (context) => {
  endpoint.reset()
  Object.assign(context, await newScene())
})
test.after.each(({ close }) => close())
test.after(endpoint.close)

test('after the last failure new messages start it again', async ({ start, write, summarised, summaries, count }) => {
  const node = await start(env)
  set('fail')
  await write(node, 't', 0, 1)
  await asking(1)
  await until(async () => (await count('tracebook.summaries where run_at is null')) === 1 || undefined)
  set('answer')
  await write(node, 't', 1, 1)
  const trace = await summarised(node, 't', 2)
  assert.is(trace.ai_title, 'From the model')
  assert.equal(await summaries(trace.id), [2])
  assert.is(asked(), 2)
})

test('a trace that is created again while its summary is made does not get the old summary', async (context) => {
  const { start, write, remove, read, summarised, summaries } = context
  const node = await start(env)
  set('hang')
  await write(node, 't', 0, 1)
  await asking(1)
  await remove(node, 't')
  await write(node, 't', 0, 2)
  set('answer')
  endpoint.hangUp() // the SDK asks again for the old one; a job of the new one is due as well
  await summarised(node, 't', 2)
  assert.equal(await summaries((await read(node, 't')).id), [2])
})

test('a stop does not wait for a silent endpoint, and does not count as an attempt', async ({
  start,
  stop,
  write,
  summarised,
}) => {
  const node = await start(env)
  set('hang')
  await write(node, 't', 0, 1)
  await asking(1)
  await stop(node)
  set('answer')
  await summarised(await start(env), 't', 1)
})

test('a database that becomes unreachable while a summary is made ends nothing', async (context) => {
  const { start, stop, write, url, summarised, summaries } = context
  const proxy = await newProxy(url)
  const api = await start({ ROLES: 'api,projector' })
  const worker = await start({ ...env, ROLES: 'worker' }, proxy.url)
  set('hang')
  await write(api, 't', 0, 1)
  await asking(1)
  proxy.set('refuse')
  set('answer')
  endpoint.hangUp()
  await until(async () => (await worker.service.readiness()).missing.length > 0 || undefined)
  proxy.set('pass')
  const { id } = await summarised(api, 't', 1)
  assert.equal(await summaries(id), [1])
  await stop(worker)
  await proxy.close()
})

test('after a worker is killed during a summary, another makes it', async ({
  start,
  write,
  url,
  summarised,
  summaries,
  count,
}) => {
  const node = await start({ ROLES: 'api,projector' })
  const worker = await startWorker(url, env)
  set('hang')
  await write(node, 't', 0, 1)
  await asking(1)
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  assert.is(await count('graphile_worker.jobs where locked_at is not null'), 1)
  set('answer')
  await start({ ...env, ROLES: 'worker' })
  const { id } = await summarised(node, 't', 1)
  assert.equal(await summaries(id), [1])
})

test('workers that are killed again and again make each summary once', async (context) => {
  const { start, write, url, read, summarised, summaries } = context
  const node = await start({ ROLES: 'api,projector' })
  set('answer')
  let written = 0
  for (let round = 0; round < ROUNDS; round++) {
    const worker = await startWorker(url, env)
    const before = asked()
    for (let i = 0; i < 4; i++) await write(node, 't', written++, 1)
    await until(async () => asked() > before || undefined)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
  }
  await start({ ...env, ROLES: 'worker' })
  await write(node, 't', written, 10)
  const { id } = await until(async () => {
    const trace = await read(node, 't')
    return (trace.summaryMessageCount ?? 0) > written + 7 ? trace : undefined
  })
  const counts = await summaries(id)
  counts.reduce((last, count) => (assert.ok(count - last >= 3, counts.join()), count), -2)
  await summarised(node, 't', written + 10)
})

test.run()
