import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newScene } from './support.ts'
import { until } from '../../support/until.ts'

type Context = Awaited<ReturnType<typeof newScene>>
const test = suite<Context>('summaries')
test.before.each(async (context) => void Object.assign(context, await newScene()))
test.after.each(({ close }) => close())

test('a trace gets a title and a summary, and another after enough messages', async ({
  start,
  write,
  summarised,
  summaries,
}) => {
  const node = await start()
  await write(node, 't', 0, 1)
  const first = await summarised(node, 't', 1)
  assert.is(first.ai_title, 'Message 0 \ufffd'.replace('\ufffd', '\ud83d'))
  assert.match(first.ai_summary!, 'Extracted from 1 message, not written by a model.')
  await write(node, 't', 1, 2)
  await write(node, 't', 3, 1)
  const second = await summarised(node, 't', 4)
  assert.equal(await summaries(first.id), [1, 4])
  assert.ok(second.updatedAt >= first.updatedAt)
})

test('two workers make each summary once', async ({ start, write, read, summarised, summaries, count }) => {
  const nodes = [await start(), await start({ ROLES: 'api,worker' })]
  const traces = Array.from({ length: 12 }, (_, i) => `t${i}`)
  const write10 = async (trace: string, i: number) => {
    for (let n = 0; n < 10; n++) await write(nodes[(i + n) % 2]!, trace, n, 1)
  }
  await Promise.all(traces.map(write10))
  for (const trace of traces) {
    await until(async () => ((await read(nodes[0]!, trace)).summaryMessageCount ?? 0) > 7 || undefined)
    await write(nodes[1]!, trace, 10, 10)
    const { id } = await summarised(nodes[0]!, trace, 20)
    const counts = await summaries(id)
    counts.reduce((before, after) => (assert.ok(after - before >= 3, counts.join()), after), -3)
  }
  await until(async () => (await count('graphile_worker.jobs')) === 0 || undefined)
  await until(async () => (await count('tracebook.summaries where run_at is not null')) === 0 || undefined)
})

test('a deleted trace has no timer, and a new trace of the same name starts again', async ({
  start,
  stop,
  write,
  remove,
  summarised,
  summaries,
  count,
}) => {
  const slow = await start({ SUMMARY_DEBOUNCE_MS: '3600000' })
  await write(slow, 't', 0, 2)
  await until(async () => (await count('graphile_worker.jobs')) === 1 || undefined)
  await remove(slow, 't')
  await until(async () => (await count('graphile_worker.jobs')) === 0 || undefined)
  assert.is(await count('tracebook.summaries'), 0)
  await stop(slow)
  const node = await start()
  await write(node, 't', 0, 1)
  const { id } = await summarised(node, 't', 1)
  assert.equal(await summaries(id), [1])
})

test('a timer survives a stop', async ({ start, stop, write, summarised, count }) => {
  const first = await start({ SUMMARY_DEBOUNCE_MS: '400' })
  await write(first, 't', 0, 2)
  await until(async () => (await count('graphile_worker.jobs')) === 1 || undefined)
  await stop(first)
  await summarised(await start({ SUMMARY_THRESHOLD: '100' }), 't', 2)
})

test('a job without work clears its timer, so that the next messages get a whole debounce', async (context) => {
  const { start, stop, write, summarised, count, sql } = context
  const first = await start()
  await write(first, 't', 0, 1)
  await summarised(first, 't', 1)
  await stop(first)
  const slow = await start({ SUMMARY_DEBOUNCE_MS: '3600000' })
  await write(slow, 't', 1, 3)
  await until(async () => (await count('tracebook.summaries where run_at is not null')) === 1 || undefined)
  await stop(slow)
  const patient = await start({ SUMMARY_THRESHOLD: '5', SUMMARY_DEBOUNCE_MS: '3600000' })
  await sql.query(`select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())`)
  await until(async () => (await count('graphile_worker.jobs')) === 0 || undefined)
  await until(
    async () => (await count('tracebook.summaries where since is null and run_at is null')) === 1 || undefined,
  )
  await write(patient, 't', 4, 2)
  await until(async () => (await count(`graphile_worker.jobs where run_at > now() + interval '50 minutes'`)) === 1)
})

test('without its state the process catches up with the log, and schedules only the traces due at the end', async (context) => {
  const { start, stop, write, remove, summarised, summaries, sql } = context
  const node = await start()
  for (const trace of ['done', 'due', 'gone']) await write(node, trace, 0, 1)
  const [done, due] = [await summarised(node, 'done', 1), await summarised(node, 'due', 1)]
  await stop(node)
  const without = await start({ SUMMARY_PROVIDER: 'none' })
  await write(without, 'due', 1, 3)
  await remove(without, 'gone')
  await stop(without)
  await sql.query(`drop schema graphile_worker cascade; truncate tracebook.summaries;
    delete from tracebook.processes where name = 'summaries'`)
  const again = await start()
  await summarised(again, 'due', 4)
  assert.equal([await summaries(done.id), await summaries(due.id)], [[1], [1, 4]])
  assert.equal((await sql.query('select from tracebook.summary_fold')).rows, [])
})

test('the process goes on after its connections are cut', async ({ start, write, summarised, sql }) => {
  const node = await start()
  await write(node, 't', 0, 1)
  await summarised(node, 't', 1)
  await sql.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name in ('tracebook summaries', 'tracebook jobs')`)
  await write(node, 't', 1, 5)
  await summarised(node, 't', 6)
})

test.run()
