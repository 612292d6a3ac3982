import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { EventStoreDBClient, type EventData, NO_STREAM } from '@eventstore/db-client'
import { openEventStoreLog } from '../../src/log/eventstoredb/eventstoredb-log.ts'
import type { Expected, NewEvent } from '../../src/log/log.ts'
import { withPrefix } from '../support/log-place.ts'
import { messages } from './corpus.ts'
import { rate } from './http.ts'
import { ingest } from './ingest.ts'
import type { Measure, Measured } from './rows.ts'
import { openWorld } from './world.ts'

type Load = (ms: number) => Promise<number>

const credentials = { username: 'admin', password: 'changeit' }
const bodies = messages(200).map((message) => JSON.stringify(message))
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
  const result = await rate(writers, ms, async (i) => {
    const end = ends[i]!
    const options = { expectedRevision: end.at ?? NO_STREAM, credentials } as const
    end.at = (await client.appendToStream(end.stream, newEvents(size).map(binary), options)).nextExpectedRevision
    return size
  })
  await client.dispose()
  return result
}

const ourAppends = async (url: string, writers: number, size: number, ms: number) => {
  const log = openEventStoreLog({ url, prefix: `bench-${randomUUID()}.` })
  const ends = Array.from({ length: writers }, () => ({ stream: `trace-${randomUUID()}`, at: 'none' as Expected }))
  const result = await rate(writers, ms, async (i) => {
    const end = ends[i]!
    end.at = (await log.append(end.stream, end.at, newEvents(size))).revision
    return size
  })
  await log.close()
  return result
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

const between = async (bare: Load, ours: Load, ms: number): Promise<Measured> => {
  const before = await bare(ms / 2)
  const value = await ours(ms)
  return { value, yardstick: (before + (await bare(ms / 2))) / 2 }
}

const appends = (url: string, writers: number, size: number, ms: number) =>
  between(
    (each) => bareAppends(url, writers, size, each),
    (each) => ourAppends(url, writers, size, each),
    ms,
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
  const measured = await between(bare, () => readRate(log.readAll({ after }), ms), ms)
  await Promise.all([client.dispose(), log.close()])
  return measured
}

/** Batches all the way through a service with its log there, beside what the bare client writes of such appends. */
const ingested = async (url: string, ms: number): Promise<Measured> => {
  const world = await openWorld(withPrefix(url, `bench-${randomUUID()}.`))
  try {
    return await between(
      (each) => bareAppends(url, 8, 200, each),
      (each) => ingest(world, each),
      ms,
    )
  } finally {
    await world.close()
  }
}

/** The log alone on a server, and a service on it, each beside the bare client; they leave their streams there. */
export const eventStoreRows = (url: string): readonly Measure[] => [
  { name: 'eventstore-append', unit: 'events/s', measure: ({ ms }) => appends(url, 64, 1, ms) },
  { name: 'eventstore-append-200', unit: 'events/s', measure: ({ ms }) => appends(url, 8, 200, ms) },
  { name: 'eventstore-read', unit: 'events/s', measure: ({ ms }) => read(url, ms) },
  { name: 'eventstore-ingest', unit: 'messages/s', measure: ({ ms }) => ingested(url, ms) },
]
