import { randomUUID, randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import { readModels } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { newCodec } from '../../src/engine/codec.ts'
import { newWatermark } from '../../src/engine/watermark.ts'
import { newQuarantine } from '../../src/engine/quarantine.ts'
import { startRunner } from '../../src/engine/runner.ts'
import { formats } from '../../src/events.ts'
import { sessionFeedStatement } from '../../src/feed/queries.ts'
import type { ExpectedRevision } from '../../src/log/log.ts'
import { openPostgresLog } from '../../src/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../src/log/whole-appends.ts'
import { newPool } from '../../src/postgres/connect.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { databaseUrl, onServer } from '../support/database.ts'
import { copyLog, coverLog, verify } from './audit-verify.ts'
import { messages } from './corpus.ts'
import { hostileMinute } from './hostile.ts'
import { openConnection, rate, requestBytes } from './http.ts'
import { ingest } from './ingest.ts'
import { messagePage } from './message-page.ts'
import { syncAgain, syncFirst, syncRedacted } from './sync.ts'
import { realtimePush } from './realtime-push.ts'
import { timeTravel } from './time-travel.ts'
import { timelineLag } from './timeline-lag.ts'
import { bareBatches, bareCommits, bareCopy, hello } from './yardsticks.ts'
import type { World } from './world.ts'
import { outage } from '../support/silent.ts'

const schema = schemaOf(readModels)

export type Row = { name: string; value: number; unit: string; yardstick: number; ratio: number }
export type Setting = { readonly world: World; readonly helloUrl: string; readonly ms: number }
export type Measured = { value: number; yardstick: number }
/** Several figures of one run, each a row of its own. */
export type Named = Measured & { name: string; unit: string }
export type Measure = { name: string; unit: string; measure(setting: Setting): Promise<Measured | readonly Named[]> }

const FEED_TRACES = 200_000

/** Bodies as the bare tables get them: the same messages as JSON text. */
const bodies = messages(200).map((message) => JSON.stringify(message))

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** The yardstick before and after, so that a machine that slows down does not count for either. */
const between = async (yardstick: () => Promise<number>, work: () => Promise<number>): Promise<Measured> => {
  const before = await yardstick()
  const value = await work()
  return { value, yardstick: (before + (await yardstick())) / 2 }
}

const withDatabase = async <T>(server: string, work: (url: string) => Promise<T>): Promise<T> => {
  const name = `bench_${randomUUID().slice(0, 8)}`
  await onServer(server, `create database "${name}"`)
  const url = databaseUrl(server, name)
  try {
    await migrate(url)
    return await work(url)
  } finally {
    await onServer(server, `drop database "${name}" with (force)`)
  }
}

const metadata = (index: number, size: number, id: string) =>
  JSON.stringify({
    at: Date.now(),
    actor: { userId: randomUUID(), sessionId: randomUUID() },
    requestId: randomUUID(),
    schema: 1,
    append: { id, index, size },
  })

const newEvent = (i: number) => ({
  id: randomUUIDv7(),
  type: 'MessageAdded',
  data: bodies[i % 200]!,
  metadata: metadata(0, 1, randomUUIDv7()),
})

const WRITERS = 64

/** Gives each of the writers a stream of its own, to which it appends one event after another. */
const newAppender = (url: string) => {
  const log = openPostgresLog({ url })
  const writers = Array.from({ length: WRITERS }, () => ({
    stream: `trace-${randomUUIDv7()}`,
    revision: 'none' as ExpectedRevision,
  }))
  const append = async (i: number): Promise<number> => {
    const writer = writers[i]!
    writer.revision = (await log.append(writer.stream, writer.revision, [newEvent(i)])).revision
    return 1
  }
  return { append, close: log.close }
}

const logAppend = ({ world, ms }: Setting) =>
  between(
    () => bareBatches(world.databaseUrl, bodies, ms / 2),
    () =>
      withDatabase(world.databaseUrl, async (url) => {
        const { append, close } = newAppender(url)
        const result = await rate(WRITERS, ms, append)
        await close()
        return result
      }),
  )

const SNAPSHOT_APPENDS = 100_000
const LAST_APPENDS = 20_000

/** A transaction that sees the database as it is now, as a backup does, until it is closed. */
const openSnapshot = async (url: string): Promise<() => Promise<void>> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin isolation level repeatable read; select from log.events limit 1')
  return () => client.end()
}

/** Appends per second at the end of so many that what a snapshot keeps from being cleared away has piled up. */
const appendMany = (server: string, isObserved: boolean): Promise<number> =>
  withDatabase(server, async (url) => {
    const { append, close } = newAppender(url)
    const closeSnapshot = isObserved ? await openSnapshot(url) : async () => {}
    let [started, last] = [0, 0]
    const run = async (i: number) => {
      while (started < SNAPSHOT_APPENDS) {
        if (++started === SNAPSHOT_APPENDS - LAST_APPENDS) last = performance.now()
        await append(i)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, i) => run(i)))
    const seconds = (performance.now() - last) / 1_000
    await closeSnapshot()
    await close()
    return LAST_APPENDS / seconds
  })

/** The yardstick is the same without a snapshot. */
const logAppendSnapshot = ({ world }: Setting) =>
  between(
    () => appendMany(world.databaseUrl, false),
    () => appendMany(world.databaseUrl, true),
  )

const batchIngest = ({ world, ms }: Setting) =>
  between(
    () => bareBatches(world.databaseUrl, bodies, ms / 2),
    () => ingest(world, ms),
  )

const put =
  (traceOf: (worker: number) => string) =>
  async ({ world, ms }: Setting) =>
    between(
      () => bareCommits(world.databaseUrl, bodies, ms / 2),
      async () => {
        const { authorization } = await world.signIn('message-put')
        const run = randomUUID()
        const connections = await Promise.all(Array.from({ length: 32 }, () => openConnection(world.url)))
        for (let i = 0; i < 32; i++) await world.call('PUT', `/v1/traces/${run}-${traceOf(i)}`, authorization, {})
        const counters = new Array<number>(32).fill(0)
        const result = await rate(32, ms, async (i) => {
          const path = `/v1/traces/${run}-${traceOf(i)}/messages/m-${i}-${counters[i]!++}`
          const { status, body } = await connections[i]!.send(
            requestBytes('PUT', path, { authorization }, bodies[counters[i]! % 200]!),
          )
          if (status !== 200) throw new Error(`put: ${status} ${body}`)
          return 1
        })
        for (const connection of connections) connection.close()
        return result
      },
    )

let feedFilled: string | undefined

/** 200,000 public traces of 200 users, written to the log as the service would. */
const fillFeed = async (world: World): Promise<string> => {
  if (feedFilled) return feedFilled
  const users: Awaited<ReturnType<World['signIn']>>[] = []
  for (let i = 0; i < 20; i++) users.push(await world.signIn(`feed-${i}`))
  const log = wholeAppends(openPostgresLog({ url: world.databaseUrl }))
  for (let i = 0; i < FEED_TRACES; i += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, k) => {
        const { namespaceId, userId } = users[(i + k) % users.length]!
        const data = {
          externalId: `session-${i + k}`,
          namespaceId,
          createdBy: userId,
          agentId: 'claude-code',
          title: `Repair the parser of file ${i + k}`,
          model: 'claude-opus-4-5',
          visibility: 'public',
        }
        return log.append(`trace-${randomUUID()}`, 'none', [
          {
            id: randomUUIDv7(),
            type: 'TraceCreated',
            data: JSON.stringify(data),
            metadata: metadata(0, 1, randomUUIDv7()),
          },
        ])
      }),
    )
  }
  await log.close()
  for (;;) {
    const { text } = await world.call('GET', '/metrics', undefined)
    if (Number(/tracebook_projection_lag_events\{group="main"\} (\d+)/.exec(text)?.[1]) === 0) break
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await onServer(world.databaseUrl, 'analyze')
  feedFilled = users[0]!.authorization
  return feedFilled
}

const get = async (world: World, workers: number, ms: number, headers: Record<string, string>) => {
  const connections = await Promise.all(Array.from({ length: workers }, () => openConnection(world.url)))
  const request = requestBytes('GET', '/v1/feed', headers)
  const result = await rate(workers, ms, async (i) => {
    const { status } = await connections[i]!.send(request)
    if (status !== 200) throw new Error(`feed: ${status}`)
    return 1
  })
  for (const connection of connections) connection.close()
  return result
}

const feedPublic = async ({ world, helloUrl, ms }: Setting) => {
  await fillFeed(world)
  return between(
    () => hello(helloUrl, 16, ms / 2),
    () => get(world, 16, ms, {}),
  )
}

const feedSession = async ({ world, ms }: Setting) => {
  const authorization = await fillFeed(world)
  const { text } = await world.call('GET', '/v1/session', authorization)
  const { namespaceId } = JSON.parse(text).data.session
  const values = [Number.MAX_SAFE_INTEGER, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 51, namespaceId]
  const bare = async () => {
    const pool = newPool(world.databaseUrl, 'yardstick', 8, 30_000, schema)
    const result = await rate(8, ms / 2, async () => {
      await pool.query({ name: 'feed', text: sessionFeedStatement, values })
      return 1
    })
    await pool.end()
    return result
  }
  return between(bare, () => get(world, 8, ms, { authorization }))
}

const REBUILD_EVENTS = 60_000

/** Events a second of a rebuild of all read models, and of a COPY of the same rows. */
const rebuild = ({ world }: Setting) =>
  withDatabase(world.databaseUrl, async (url): Promise<Measured> => {
    const log = wholeAppends(openPostgresLog({ url }))
    const codec = newCodec(formats)
    const lines: string[] = []
    const escape = (text: string) => text.replaceAll('\\', '\\\\')
    for (let t = 0; t < REBUILD_EVENTS / 200; t++) {
      const stream = `trace-${randomUUID()}`
      const append = randomUUIDv7()
      const created = {
        externalId: stream,
        namespaceId: randomUUID(),
        createdBy: randomUUID(),
        agentId: 'claude-code',
        visibility: 'private',
      }
      const added = messages(199, 0, t).map((message, ordinal) => {
        const { externalId, parts, ...rest } = message as { externalId: string; parts: unknown[] }
        return {
          type: 'MessageAdded',
          data: JSON.stringify({
            externalId,
            ordinal,
            ...rest,
            class: 'agent_text',
            tools: [],
            digest: 'x'.repeat(22),
            parts,
          }),
        }
      })
      const events = [{ type: 'TraceCreated', data: JSON.stringify(created) }, ...added].map((event, i) => ({
        id: randomUUIDv7(),
        ...event,
        metadata: metadata(i, 200, append),
      }))
      await log.append(stream, 'none', events)
      for (const [i, event] of events.entries())
        lines.push(
          `${i}\t${stream}\t${i}\t${event.id}\t${event.type}\t${escape(event.data)}\t${escape(event.metadata)}\n`,
        )
    }
    const once = async () => {
      await onServer(url, `drop schema if exists ${schema} cascade`)
      const watermark = newWatermark()
      const logger = { info: () => {}, error: console.error }
      const started = performance.now()
      const runner = startRunner({
        url,
        group: readModels,
        log,
        codec,
        watermark,
        quarantine: newQuarantine(),
        logger,
        outage,
      })
      await watermark.waitFor(await log.head(), 600_000)
      const seconds = (performance.now() - started) / 1_000
      await runner.close()
      return REBUILD_EVENTS / seconds
    }
    const copies = [REBUILD_EVENTS / (await bareCopy(world.databaseUrl, lines))]
    const runs = [await once()]
    copies.push(REBUILD_EVENTS / (await bareCopy(world.databaseUrl, lines)))
    runs.push(await once())
    await log.close()
    return { value: median(runs), yardstick: median(copies) }
  })

const WANTED_LEAVES = 10_000
const MEMORY_MB = 400

/** A check of a whole log, beside a COPY of it; how fast leaves are written, and how much memory the check takes. */
const auditVerify = ({ world }: Setting) =>
  withDatabase(world.databaseUrl, async (url): Promise<readonly Named[]> => {
    const leaves = await coverLog(url)
    await copyLog(url)
    const before = await copyLog(url)
    const { rate, memory } = await verify(url)
    const yardstick = (before + (await copyLog(url))) / 2
    return [
      { name: 'audit-verify', unit: 'events/s', value: rate, yardstick },
      { name: 'audit-verify memory', unit: 'MB', value: memory, yardstick: MEMORY_MB },
      { name: 'audit-leaves', unit: 'events/s', value: leaves, yardstick: WANTED_LEAVES },
    ]
  })

export const rows: readonly Measure[] = [
  { name: 'log-append', unit: 'events/s', measure: logAppend },
  { name: 'log-append-snapshot', unit: 'events/s', measure: logAppendSnapshot },
  { name: 'batch-ingest', unit: 'messages/s', measure: batchIngest },
  { name: 'message-put', unit: 'requests/s', measure: put((i) => `trace-${i}`) },
  { name: 'message-put-one', unit: 'requests/s', measure: put(() => 'trace') },
  { name: 'message-page', unit: 'pages/s', measure: messagePage },
  { name: 'feed-public', unit: 'requests/s', measure: feedPublic },
  { name: 'feed-session', unit: 'requests/s', measure: feedSession },
  { name: 'realtime-push', unit: '', measure: realtimePush },
  { name: 'timeline-lag', unit: '', measure: timelineLag },
  { name: 'time-travel', unit: '', measure: timeTravel },
  { name: 'rebuild', unit: 'events/s', measure: rebuild },
  { name: 'audit-verify', unit: '', measure: auditVerify },
  { name: 'sync-first', unit: '', measure: syncFirst },
  { name: 'sync-again', unit: '', measure: syncAgain },
  { name: 'sync-redacted', unit: '', measure: syncRedacted },
  { name: 'hostile-minute', unit: '', measure: hostileMinute },
]
