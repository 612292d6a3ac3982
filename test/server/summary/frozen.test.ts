import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEndpoint, startWorker } from './endpoint.ts'
import { newScene } from './support.ts'
import { until } from '../../support/until.ts'

type Context = Awaited<ReturnType<typeof newScene>>
const test = suite<Context>('frozen summary workers')

const endpoint = await openEndpoint()
const { env, asking, set } = endpoint
test.before.each(async (context) => void Object.assign(context, await newScene()))
test.after.each(({ close }) => close())
test.after(endpoint.close)

test('a worker that freezes during a summary is replaced, and does no harm when it wakes up', async (context) => {
  const { start, write, url, summarised, summaries, count } = context
  const node = await start({ ROLES: 'api,projector' })
  const worker = await startWorker(url, env)
  try {
    set('hang')
    await write(node, 't', 0, 1)
    await asking(1)
    worker.kill('SIGSTOP')
    set('answer')
    await start({ ...env, ROLES: 'worker' })
    const { id } = await summarised(node, 't', 1)
    await write(node, 'another', 0, 1) // the new one follows the log, too
    await summarised(node, 'another', 1)
    worker.kill('SIGCONT')
    endpoint.hangUp() // what it had asked is asked again, and answered
    await write(node, 't', 1, 5)
    await summarised(node, 't', 6)
    assert.equal(await summaries(id), [1, 6])
    await until(async () => (await count('graphile_worker.jobs')) === 0 || undefined)
  } finally {
    worker.kill('SIGKILL')
  }
})

test.run()
