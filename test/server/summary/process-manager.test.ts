import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import { formats } from '../../../src/server/events.ts'
import { newId } from '../../../src/base/ids.ts'
import type { EventLog, NewEvent } from '../../../src/eventstore/log/log.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { startJobRunner } from '../../../src/server/summary/job-runner.ts'
import { newUnreadableLog, runProcessManager } from '../../../src/server/summary/process-manager.ts'
import { noCounts } from '../../../src/server/trace/decide.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { type Database, freshDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const codec = newCodec(formats)

const recorded = (type: string, data: string, schema = 1): NewEvent => {
  const id = newId()
  return { id, type, data, metadata: JSON.stringify({ at: 1, schema, append: { id, index: 0, size: 1 } }) }
}
const written = (event: TraceEvent) => recorded(event.type, codec.encode(event).data)
const created = written({
  type: 'TraceCreated',
  data: { externalId: 'x', namespaceId: 'n', createdBy: 'u', agentId: 'a', visibility: 'private' },
})
const counted = (messageCount: number) => written({ type: 'MessagesCounted', data: { ...noCounts, messageCount } })

type Scene = { database: Database; log: EventLog; sql: pg.Client; said: object[] }

const test = suite<Scene>('summary process manager')
test.before.each(async (scene) => {
  scene.database = await freshDatabase()
  scene.log = openBareLog(scene.database.url)
  scene.sql = newClient(scene.database.url, 'test')
  await scene.sql.connect()
  scene.said = []
})
test.after.each(async ({ database, log, sql }) => {
  await Promise.all([sql.end(), log.close()])
  await database.drop()
})

const append = ({ log }: Scene, stream: string, events: NewEvent[]) =>
  events.reduce(
    async (before, event) => (await log.append(stream, await before, [{ ...event, id: newId() }])).revision,
    Promise.resolve('none' as bigint | 'none'),
  )

/** The manager at work until `isDone`. */
const manageUntil = async ({ database, log, said }: Scene, isDone: () => Promise<boolean>) => {
  const { url } = database
  const client = newClient(url, 'summaries')
  await client.connect()
  const jobs = await startJobRunner({
    url,
    connections: 3,
    concurrency: 1,
    run: async () => {},
    logger: { debug: () => {} },
  })
  const unreadable = newUnreadableLog({
    warn: ({ stream, revision }: Record<string, unknown>) => said.push({ stream, revision }),
  } as never)
  const stop = new AbortController()
  const rule = { threshold: 3, debounceMs: 3_600_000 }
  const running = runProcessManager({
    client,
    log,
    codec,
    rule,
    attempts: 1,
    now: Date.now,
    onUnreadable: unreadable,
    signal: stop.signal,
  })
  try {
    await Promise.race([running, until(async () => (await isDone()) || undefined)])
  } finally {
    stop.abort()
    await running.catch(() => {})
    await Promise.all([client.end(), jobs.close()])
  }
}

const keys = async ({ sql }: Scene) =>
  (await sql.query<{ key: string }>('select key from graphile_worker.jobs')).rows.map(({ key }) => key).sort()

test('ignores an event that it cannot read, logs this once for each stream, and goes on with all others', async (scene) => {
  const [broken, whole] = [newId(), newId()]
  await append(scene, `trace-${broken}`, [
    created,
    recorded('MessagesCounted', '{"messageCount":"several"}'),
    recorded('MessagesCounted', '{}'),
    recorded('TraceSummarised', '{}', 99),
    counted(2),
  ])
  await append(scene, 'trace-of-nobody', [created])
  await append(scene, `trace-${whole}`, [created, counted(3)])
  await manageUntil(scene, async () => (await keys(scene)).length === 2)
  assert.equal(await keys(scene), [`summarise:${broken}`, `summarise:${whole}`].sort())
  assert.equal(scene.said, [
    { stream: `trace-${broken}`, revision: '1' },
    { stream: 'trace-of-nobody', revision: '0' },
  ])
})

const tracesOf = async ({ sql }: Scene) =>
  (await sql.query<{ trace_id: string }>('select trace_id from tracebook.summaries')).rows.map((row) => row.trace_id)

test('starts again from the beginning when the log no longer holds the events it has read, even if it is as long', async (scene) => {
  const [kept, lost] = [newId(), newId()]
  await append(scene, `trace-${kept}`, [created, counted(3)])
  await manageUntil(scene, async () => (await tracesOf(scene)).includes(kept))
  await scene.sql.query('update tracebook.processes set event_id = $1', [newId()]) // another event stands there now
  await scene.sql.query('insert into tracebook.summaries values ($1, 0, 5, 5)', [lost])
  const isAnew = async () => {
    const traces = await tracesOf(scene)
    return !traces.includes(lost) && traces.includes(kept)
  }
  await manageUntil(scene, isAnew)
  assert.equal(await tracesOf(scene), [kept])
})

test.run()
