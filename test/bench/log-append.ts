import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import type { ExpectedRevision } from '../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { rate } from './http.ts'
import { type Setting, between, bodies, metadata, withDatabase } from './measure.ts'
import { bareBatches } from './yardsticks.ts'

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

/** Appends per second of 64 writers, beside inserts of as many rows at once. */
export const logAppend = ({ world, ms }: Setting) =>
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

/** The same while a backup holds a snapshot; the yardstick is the same without one. */
export const logAppendSnapshot = ({ world }: Setting) =>
  between(
    () => appendMany(world.databaseUrl, false),
    () => appendMany(world.databaseUrl, true),
  )
