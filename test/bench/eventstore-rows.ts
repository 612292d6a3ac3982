import { fork } from 'node:child_process'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import { EventStoreDBClient, type EventData, NO_STREAM } from '@eventstore/db-client'
import { openEventStoreLog } from '../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { ExpectedRevision, NewEvent } from '../../src/eventstore/log/log.ts'
import { withPrefix } from '../support/log-place.ts'
import { rate } from './http.ts'
import { ingest } from './ingest.ts'
import { type Measure, type Measured, type Named, type Setting, between, bodies, inTurns } from './measure.ts'
import { processorUs } from './processor.ts'
import { allCaughtUp } from './timeline-lag.ts'
import { type World, openWorld } from './world.ts'

const credentials = { username: 'admin', password: 'changeit' }
const encoder = new TextEncoder()

const newEvents = (count: number): NewEvent[] => {
  const append = randomUUIDv7()
  return Array.from({ length: count }, (_, index) => ({
    id: randomUUIDv7(),
    type: 'MessageAdded',
    data: bodies[index % bodies.length]!,
    metadata: JSON.stringify({ at: Date.now(), schema: 1, append: { id: append, index, size: count } }),
  }))
}

const binary = ({ id, type, data, metadata }: NewEvent): EventData => ({
  id,
  type,
  contentType: 'application/octet-stream',
  data: encoder.encode(data),
  metadata: encoder.encode(metadata),
})

/** The client alone, on the path that the adapter takes. */
const bareAppends = async (url: string, writers: number, size: number, ms: number) => {
  const client = EventStoreDBClient.connectionString(url)
  const ends = Array.from({ length: writers }, () => ({
    stream: `bench-${randomUUID()}`,
    at: undefined as bigint | undefined,
  }))
  return rate(writers, ms, async (i) => {
    const end = ends[i]!
    const options = { expectedRevision: end.at ?? NO_STREAM, credentials } as const
    end.at = (await client.appendToStream(end.stream, newEvents(size).map(binary), options)).nextExpectedRevision
    return size
  }).finally(() => client.dispose())
}

const ourAppends = async (url: string, writers: number, size: number, ms: number) => {
  const log = openEventStoreLog({ url, prefix: `bench-${randomUUID()}.` })
  const ends = Array.from({ length: writers }, () => ({
    stream: `trace-${randomUUID()}`,
    at: 'none' as ExpectedRevision,
  }))
  return rate(writers, ms, async (i) => {
    const end = ends[i]!
    end.at = (await log.append(end.stream, end.at, newEvents(size))).revision
    return size
  }).finally(() => log.close())
}

/** Events a second of everything that is on the server, at most `ms` long. */
const readRate = async (events: AsyncIterable<unknown>, ms: number) => {
  const started = performance.now()
  let count = 0
  for await (const _ of events) {
    count += 1
    if (performance.now() - started > ms) break
  }
  return (count * 1_000) / (performance.now() - started)
}

const appends = (url: string, writers: number, size: number, ms: number) =>
  between(
    () => bareAppends(url, writers, size, ms / 2),
    () => ourAppends(url, writers, size, ms),
  )

const READ_EVENTS = 40_000

const read = async (url: string, ms: number): Promise<Measured> => {
  const prefix = `bench-${randomUUID()}.`
  const log = openEventStoreLog({ url, prefix })
  const after = await log.head()
  await Promise.all(
    Array.from({ length: READ_EVENTS / 2_000 }, async (_, i) => {
      for (let k = 0; k < 10; k++) await log.append(`t-${i}`, k === 0 ? 'none' : BigInt(k * 200 - 1), newEvents(200))
    }),
  )
  const client = EventStoreDBClient.connectionString(url)
  const bare = async () => {
    const source = client.readAll({ fromPosition: { commit: after, prepare: after }, credentials })
    source.on('error', () => {})
    const result = await readRate(source, ms)
    await source.cancel()
    return result
  }
  const ours = () => readRate(log.readAll({ after }), ms)
  return between(bare, ours).finally(() => Promise.all([client.dispose(), log.close()]))
}

const SLICES = 3

/**
 * Messages a second into a service with its log there, and into one with its log in Postgres. Both are warmed up, and then
 * measured in turns: a service that has just started, or a machine that others use meanwhile, would count for one of them. So would the
 * read models that a service leaves for later while messages come: a turn begins when those of both have all messages.
 */
const ingestInTurns = async (url: string, { world, ms }: Setting): Promise<Measured> => {
  const there = await openWorld(withPrefix(url, `bench-${randomUUID()}.`))
  try {
    const ingestInto = async (each: World, ms: number) => {
      const rate = await ingest(each, ms)
      await allCaughtUp(each)
      return rate
    }
    for (const each of [world, there]) await ingestInto(each, ms)
    return await inTurns(
      SLICES,
      () => ingestInto(world, ms / 2),
      () => ingestInto(there, ms / 2),
    )
  } finally {
    await there.close()
  }
}

/** What a real server was seen to take for an event of an append, 25 to 30 µs, besides what the double takes itself. */
const APPEND_COST_US = 28

/**
 * Batches all the way through a service: with the log in a server that costs as much as a real one, beside one with its log in
 * Postgres and beside the bare client; and with the log in the double as it is.
 */
const ingested = async (given: string | undefined, setting: Setting): Promise<readonly Named[]> => {
  const unit = 'messages/s'
  const { dear, bare } = await withServer(given, [0, APPEND_COST_US], async (url) => ({
    dear: await ingestInTurns(url, setting),
    // Last, because its events would be others' to the service.
    bare: await bareAppends(url, 8, 200, setting.ms),
  }))
  const rows = [
    { name: 'eventstore-ingest', unit, ...dear },
    { name: 'eventstore-ingest bare', unit, value: dear.value, yardstick: bare },
  ]
  if (given) return rows
  const cheap = await withServer(undefined, [], (url) => ingestInTurns(url, setting))
  return [...rows, { name: 'eventstore-ingest cheap', unit, ...cheap }]
}

/** Microseconds of processor time for a message: of the service, of its PostgreSQL, and of both with the server of the log. */
const costOfIngest = async (world: World, ms: number, logServer?: number) => {
  const now = () => [processorUs(world.pid), logServer === undefined ? 0 : processorUs(logServer).own] as const
  const [before, logBefore] = now()
  const count = ((await ingest(world, ms)) * ms) / 1_000
  const [after, logAfter] = now()
  const [service, postgres] = [after.own - before.own, after.started - before.started]
  return {
    service: service / count,
    postgres: postgres / count,
    all: (service + postgres + logAfter - logBefore) / count,
  }
}

/** What a message costs the processor with the log in EventStoreDB, beside the same with the log in Postgres. */
const processorTime = ({ world, ms }: Setting): Promise<readonly Named[]> =>
  withServer(undefined, [], async (url, pid) => {
    const there = await openWorld(withPrefix(url, `bench-${randomUUID()}.`))
    try {
      for (const each of [world, there]) await ingest(each, ms)
      const [here, away] = [await costOfIngest(world, ms), await costOfIngest(there, ms, pid)]
      return (['service', 'postgres', 'all'] as const).map((part) => {
        const name = `eventstore-cpu ${part}`
        return { name, unit: 'µs/message', value: away[part], yardstick: here[part] }
      })
    } finally {
      await there.close()
    }
  })

const FOREIGN_EVENTS = 250_000

/** Milliseconds until a new service is ready. */
const startMs = async (url: string): Promise<number> => {
  const started = performance.now()
  const world = await openWorld(withPrefix(url, `bench-${randomUUID()}.`))
  const ms = performance.now() - started
  await world.close()
  return ms
}

/** A new service on a server that holds much of others, beside one on a server that holds nothing. */
const started = (): Promise<Measured> =>
  withServer(undefined, [], (empty) =>
    withServer(undefined, [FOREIGN_EVENTS], (full) =>
      between(
        () => startMs(empty),
        () => startMs(full),
      ),
    ),
  )

/**
 * Works with a server: the one that is given, or one in memory, in a process of its own, that ends with the work and whose id it
 * gets. `options` are what `serve.ts` takes.
 */
const withServer = async <T>(
  given: string | undefined,
  options: readonly number[],
  work: (url: string, pid?: number) => Promise<T>,
): Promise<T> => {
  if (given) return work(given)
  const server = fork(new URL('../support/eventstoredb/serve.ts', import.meta.url), options.map(String))
  try {
    const [url] = (await once(server, 'message')) as [string]
    return await work(url, server.pid)
  } finally {
    server.kill()
  }
}

/**
 * The log alone on a server, beside the bare client, and a service on it, beside one on Postgres. On a server that is
 * given they leave their streams there, which the rows after them pass over.
 */
export const eventStoreRows = (given: string | undefined): readonly Measure[] => {
  const row = (name: string, unit: string, measure: (url: string, setting: Setting) => Promise<Measured>) => ({
    name,
    unit,
    measure: (setting: Setting) => withServer(given, [], (url) => measure(url, setting)),
  })
  return [
    { name: 'eventstore-ingest', unit: '', measure: (setting) => ingested(given, setting) },
    { name: 'eventstore-cpu', unit: '', measure: processorTime },
    { name: 'eventstore-start', unit: 'ms', measure: started },
    row('eventstore-append', 'events/s', (url, { ms }) => appends(url, 64, 1, ms)),
    row('eventstore-append-200', 'events/s', (url, { ms }) => appends(url, 8, 200, ms)),
    row('eventstore-read', 'events/s', (url, { ms }) => read(url, ms)),
  ]
}
