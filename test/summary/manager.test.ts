import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newCodec } from '../../src/engine/codec.ts'
import { formats } from '../../src/events.ts'
import { newId } from '../../src/ids.ts'
import type { NewEvent } from '../../src/log/log.ts'
import { newClient } from '../../src/postgres/connect.ts'
import { startJobs } from '../../src/summary/jobs.ts'
import { manage } from '../../src/summary/manager.ts'
import { newUnreadable } from '../../src/summary/unreadable.ts'
import { noCounts } from '../../src/trace/decide.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { freshDatabase } from '../support/database.ts'
import { openBareLog } from '../support/log-place.ts'
import { until } from './support.ts'

const test = suite('summary process manager')
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

test('leaves out an event that it cannot read, says so once of a stream, and goes on with all others', async () => {
  const database = await freshDatabase()
  const log = openBareLog(database.url)
  const [broken, whole] = [newId(), newId()]
  const append = (stream: string, events: NewEvent[]) =>
    events.reduce(
      async (before, event) => (await log.append(stream, await before, [{ ...event, id: newId() }])).revision,
      Promise.resolve('none' as bigint | 'none'),
    )
  await append(`trace-${broken}`, [
    created,
    recorded('MessagesCounted', '{"messageCount":"several"}'),
    recorded('MessagesCounted', '{}'),
    recorded('TraceSummarised', '{}', 99),
    counted(2),
  ])
  await append('trace-of-nobody', [created])
  await append(`trace-${whole}`, [created, counted(3)])

  const client = newClient(database.url, 'summaries')
  await client.connect()
  const jobs = await startJobs({
    url: database.url,
    connections: 3,
    concurrency: 1,
    run: async () => {},
    logger: { debug: () => {} },
  })
  const said: object[] = []
  const unreadable = newUnreadable({
    warn: ({ stream, revision }: Record<string, unknown>) => said.push({ stream, revision }),
  } as never)
  const stop = new AbortController()
  const rule = { threshold: 3, debounceMs: 3_600_000 }
  const running = manage({ client, log, codec, rule, attempts: 1, now: Date.now, unreadable, signal: stop.signal })
  const reader = newClient(database.url, 'test')
  await reader.connect()
  const keys = async () =>
    (await reader.query<{ key: string }>('select key from graphile_worker.jobs')).rows.map(({ key }) => key).sort()
  try {
    await Promise.race([running, until(async () => (await keys()).length === 2 || undefined)])
    assert.equal(await keys(), [`summarise:${broken}`, `summarise:${whole}`].sort())
    assert.equal(said, [
      { stream: `trace-${broken}`, revision: '1' },
      { stream: 'trace-of-nobody', revision: '0' },
    ])
  } finally {
    stop.abort()
    await running.catch(() => {})
    await Promise.all([reader.end(), client.end(), jobs.close(), log.close()])
    await database.drop()
  }
})

test.run()
