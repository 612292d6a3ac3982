import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newProxy } from '../log/support/proxy.ts'
import { newScene, until } from './support.ts'

type Context = Awaited<ReturnType<typeof newScene>>
const test = suite<Context>('failing summaries')

/** An endpoint that fails, hangs or answers, and counts. */
let mode: 'fail' | 'hang' | 'answer' = 'answer'
let asked = 0
const content = JSON.stringify({ title: 'From the model', summary: 'It was made.' })
const respond = (response: ServerResponse) => {
  if (mode === 'hang') return
  response.writeHead(mode === 'fail' ? 400 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }] }))
}
const endpoint = createServer((request, response) => {
  request.resume().on('end', () => {
    asked += 1
    respond(response)
  })
})
await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
const env = {
  SUMMARY_PROVIDER: 'openai',
  SUMMARY_BASE_URL: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`,
  SUMMARY_MODEL: 'm',
  SUMMARY_ATTEMPTS: '1',
}
const asking = (times: number) => until(async () => asked >= times || undefined)

test.before.each(async (context) => {
  asked = 0
  Object.assign(context, await newScene())
})
test.after.each(({ close }) => close())
test.after(() => {
  endpoint.closeAllConnections()
  endpoint.close()
})

test('after the last failure the next messages ask again', async ({ start, write, summarised, summaries, count }) => {
  const node = await start(env)
  mode = 'fail'
  await write(node, 't', 0, 1)
  await asking(1)
  await until(async () => (await count('tracebook.summaries where run_at is null')) === 1 || undefined)
  mode = 'answer'
  await write(node, 't', 1, 1)
  const trace = await summarised(node, 't', 2)
  assert.is(trace.ai_title, 'From the model')
  assert.equal(await summaries(trace.id), [2])
  assert.is(asked, 2)
})

test('a trace that is made anew while its summary is made gets none of the old one', async (context) => {
  const { start, write, remove, read, summarised, summaries } = context
  const node = await start(env)
  mode = 'hang'
  await write(node, 't', 0, 1)
  await asking(1)
  await remove(node, 't')
  await write(node, 't', 0, 2)
  mode = 'answer'
  endpoint.closeAllConnections() // the SDK asks again for the old one; a job of the new one is due as well
  await summarised(node, 't', 2)
  assert.equal(await summaries((await read(node, 't')).id), [2])
})

test('a stop does not wait for an endpoint that hangs, and costs no attempt', async ({
  start,
  stop,
  write,
  summarised,
}) => {
  const node = await start(env)
  mode = 'hang'
  await write(node, 't', 0, 1)
  await asking(1)
  await stop(node)
  mode = 'answer'
  await summarised(await start(env), 't', 1)
})

test('a database that goes away while a summary is made ends nothing', async (context) => {
  const { start, stop, write, url, summarised, summaries } = context
  const proxy = await newProxy(url)
  const api = await start({ ROLES: 'api,projector' })
  const worker = await start({ ...env, ROLES: 'worker' }, proxy.url)
  mode = 'hang'
  await write(api, 't', 0, 1)
  await asking(1)
  proxy.set('refuse')
  mode = 'answer'
  endpoint.closeAllConnections()
  await until(async () => (await worker.service.readiness()).missing.length > 0 || undefined)
  proxy.set('pass')
  const { id } = await summarised(api, 't', 1)
  assert.equal(await summaries(id), [1])
  await stop(worker)
  await proxy.close()
})

const startWorker = async (url: string): Promise<ChildProcess> => {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'worker.ts')], {
    env: { ...process.env, ...env, SUMMARY_DEBOUNCE_MS: '50', SUMMARY_THRESHOLD: '3', WORKER_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(worker.stdout!, 'data')
  return worker
}

test('a worker that is killed in the middle of a summary is made good', async ({
  start,
  write,
  url,
  summarised,
  summaries,
  count,
}) => {
  const node = await start({ ROLES: 'api,projector' })
  const worker = await startWorker(url)
  mode = 'hang'
  await write(node, 't', 0, 1)
  await asking(1)
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  assert.is(await count('graphile_worker.jobs where locked_at is not null'), 1)
  mode = 'answer'
  await start({ ...env, ROLES: 'worker' })
  const { id } = await summarised(node, 't', 1)
  assert.equal(await summaries(id), [1])
})

test('workers that are killed again and again summarise each crossing once', async (context) => {
  const { start, write, url, read, summarised, summaries } = context
  const node = await start({ ROLES: 'api,projector' })
  mode = 'answer'
  let written = 0
  for (let round = 0; round < 4; round++) {
    const worker = await startWorker(url)
    const before = asked
    for (let i = 0; i < 4; i++) await write(node, 't', written++, 1)
    await until(async () => asked > before || undefined)
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
