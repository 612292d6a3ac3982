import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { EventStoreDBClient, type EventData, NO_STREAM } from '@eventstore/db-client'
import { openEventStoreLog } from '../../src/log/eventstoredb/eventstoredb-log.ts'
import type { Expected, NewEvent } from '../../src/log/log.ts'
import { messages } from './corpus.ts'
import { rate } from './http.ts'

type Measured = { value: number; yardstick: number }
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

const appends = (writers: number, size: number) => (url: string, ms: number) =>
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

/** The log alone on the server of TEST_EVENTSTORE_URL, each beside the bare client; it leaves its streams there. */
export const eventStoreRows = [
  { name: 'eventstore-append', unit: 'events/s', measure: appends(64, 1) },
  { name: 'eventstore-append-200', unit: 'events/s', measure: appends(8, 200) },
  { name: 'eventstore-read', unit: 'events/s', measure: read },
] as const
