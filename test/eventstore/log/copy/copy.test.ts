import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CopyRefused, comparableText } from '../../../../src/eventstore/log/copy/comparison.ts'
import { type CopyResult, copyLog } from '../../../../src/eventstore/log/copy/copy.ts'
import { openEventStoreLog } from '../../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import { type EventLog, LogUnavailable, type StoredRecord } from '../../../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { type Database, freshDatabase } from '../../../support/database.ts'
import { type Double, startDouble } from '../../../support/eventstoredb/server.ts'
import { all, anAppend, errorOf, numbered } from '../support/events.ts'
import { bodyOf, leaveOrphans } from '../support/segments.ts'

type Scene = {
  double: Double
  /** A log in Postgres, and one in the double, each of its own storage: the adapters alone. */
  postgres(maxAppendBytes?: number): Promise<EventLog>
  eventStore(maxAppendBytes?: number): EventLog
  end(): Promise<void>
}

const test = suite<Scene>('a copy of a log')

test.before.each(async (scene) => {
  const double = await startDouble()
  const [databases, logs]: [Database[], EventLog[]] = [[], []]
  const keep = (log: EventLog) => {
    logs.push(log)
    return log
  }
  const limit = (maxAppendBytes?: number) => (maxAppendBytes ? { maxAppendBytes } : {})
  const postgres = async (maxAppendBytes?: number) => {
    const database = await freshDatabase()
    databases.push(database)
    return keep(openPostgresLog({ url: database.url, ...limit(maxAppendBytes) }))
  }
  const eventStore = (maxAppendBytes?: number) =>
    keep(openEventStoreLog({ url: double.url, prefix: `log-${logs.length}.`, ...limit(maxAppendBytes) }))
  const end = async () => {
    await Promise.all(logs.map((log) => log.close()))
    await Promise.all([double.stop(), ...databases.map((database) => database.drop())])
  }
  Object.assign(scene, { double, postgres, eventStore, end })
})
test.after.each(({ end }) => end())

/** Streams that take turns, large and small appends, odd text, and a truncated stream. */
const fill = async (bare: EventLog) => {
  const log = wholeAppends(bare)
  const ends = new Map<string, bigint>()
  for (let i = 0; i < 40; i++) {
    const stream = `s-${i % 7}`
    const events = i % 5 === 0 ? anAppend(bodyOf(700, i), bodyOf(1_500, i), '{"a":"\\ud800\\u0000ä"}') : numbered(3, i)
    ends.set(stream, (await log.append(stream, ends.get(stream) ?? 'none', events)).revision)
  }
  await log.truncate('s-3', ends.get('s-3')! - 1n)
}

const read = async (bare: EventLog) => (await all(wholeAppends(bare).readAll({ after: 0n }))).map(comparableText)
const revisions = async (log: EventLog, stream: string) =>
  (await all(wholeAppends(log).read(stream))).map(({ id, revision }) => `${id} ${revision}`)

test('from Postgres to EventStoreDB and back everything stays the same', async ({ postgres, eventStore }) => {
  const [first, second, third] = [await postgres(), eventStore(), await postgres()]
  await fill(first)
  const there = await copyLog({ from: first, to: second })
  const back = await copyLog({ from: second, to: third })
  assert.equal(there, back)
  assert.equal([there.before, there.isComplete], [0, true])
  const expected = await read(first)
  assert.is(there.events, expected.length)
  for (const log of [second, third]) {
    assert.equal(await read(log), expected)
    for (const i of [0, 1, 2, 4, 5, 6]) assert.equal(await revisions(log, `s-${i}`), await revisions(first, `s-${i}`))
    assert.equal((await all(log.read('s-3'))).map(comparableText), (await all(first.read('s-3'))).map(comparableText))
  }
})

test('the limits of both logs may differ', async ({ postgres, eventStore }) => {
  const [first, second, third] = [await postgres(900), eventStore(300), await postgres(10_000)]
  await fill(first)
  const { digest } = await copyLog({ from: first, to: second })
  assert.is((await copyLog({ from: second, to: third })).digest, digest)
  assert.equal(await read(third), await read(first))
})

test('a second run copies nothing, and a later one the new events', async ({ postgres, eventStore }) => {
  const [from, to] = [await postgres(), eventStore()]
  assert.is((await copyLog({ from, to })).events, 0)
  await fill(from)
  const { events, digest } = await copyLog({ from, to })
  assert.equal(await copyLog({ from, to }), { events, before: events, digest, isComplete: true })
  await from.append('new', 'none', numbered(4))
  const later = await copyLog({ from, to })
  assert.equal([later.events, later.before], [events + 4, events])
  assert.equal(await read(to), await read(from))
})

test('a copy that was stopped, or failed in the middle of an append, is resumed', async ({ postgres, eventStore }) => {
  const [from, bare] = [await postgres(), eventStore(400)]
  await fill(from)
  const whole = await copyLog({ from, to: eventStore() })
  const stop = new AbortController()
  const stopped = await copyLog({ from, to: bare, signal: stop.signal, progress: () => stop.abort() })
  assert.is(stopped.isComplete, false)
  let broken = 0
  const attempt = async () => {
    let left = 25
    const append: EventLog['append'] = async (...request) => {
      if (left-- === 0) throw new LogUnavailable('unknown')
      return bare.append(...request)
    }
    return copyLog({ from, to: { ...bare, append } })
  }
  const untilDone = async (): Promise<CopyResult> =>
    attempt().catch((error) => {
      assert.instance(error, LogUnavailable)
      broken += 1
      return untilDone()
    })
  const { events, digest } = await untilDone()
  assert.equal([events, digest], [whole.events, whole.digest])
  assert.ok(broken > 3)
})

test('orphaned segments of a failed run are skipped', async ({ postgres, double }) => {
  const from = await postgres()
  const events = anAppend(bodyOf(700, 0), bodyOf(1_500, 1), bodyOf(200, 2))
  await from.append('a', 'none', events)
  for (const limit of [300, 450]) {
    const bare = openEventStoreLog({ url: double.url, prefix: `orphans-${limit}.`, maxAppendBytes: 300 })
    await leaveOrphans(bare, 'a', 'none', events)
    const to = { ...bare, maxAppendBytes: limit }
    assert.is((await copyLog({ from, to })).events, 3)
    assert.equal(await read(to), await read(from))
    await bare.close()
  }
})

test('events that the source erases between two runs are erased in the target', async ({ postgres, eventStore }) => {
  const [from, to] = [await postgres(), eventStore()]
  await fill(from)
  await copyLog({ from, to })
  await from.truncate('s-1', 7n)
  await from.truncate('s-3', 100n)
  await from.append('s-new', 'none', numbered(2))
  await copyLog({ from, to })
  assert.equal(await read(to), await read(from))
})

test('an unfinished erasure in the source is refused, and the error says that it has to finish there first', async ({
  postgres,
  eventStore,
}) => {
  const [from, to] = [await postgres(), eventStore()]
  await fill(from)
  await copyLog({ from, to })
  const copied = await read(to)
  const last = (await from.last('s-1'))!.revision
  // An erasure deletes from the end: what is left now is the first append and the last event.
  const isLeft = ({ stream, revision }: StoredRecord) => stream !== 's-1' || revision < 3n || revision === last
  const leftOf = <Asked extends unknown[]>(list: (...asked: Asked) => AsyncIterable<StoredRecord>) =>
    async function* (...asked: Asked) {
      for await (const record of list(...asked)) if (isLeft(record)) yield record
    }
  const half = { ...from, read: leftOf(from.read), readAll: leftOf(from.readAll) }
  assert.match(String(await errorOf(copyLog({ from: half, to }))), /has erased a part of s-1: let its service run/)
  assert.equal(await read(to), copied)
})

test('a target with other content is refused, and not changed', async ({ postgres, eventStore }) => {
  const from = await postgres()
  await fill(from)
  const foreign = eventStore()
  await foreign.append('theirs', 'none', numbered(1))
  const same = eventStore()
  const [event] = await all(from.readAll({ after: 0n, limit: 1 }))
  const metadata = event!.metadata.replace('"size":3', '"size":1')
  await same.append('s-0', 'none', [{ ...event!, metadata, data: '{"other":1}' }])
  const more = eventStore()
  await copyLog({ from, to: more })
  await more.append('s-0', (await all(more.read('s-0'))).at(-1)!.revision, numbered(1))
  for (const to of [foreign, same, more]) {
    const before = await read(to)
    assert.instance(await errorOf(copyLog({ from, to })), CopyRefused)
    assert.equal(await read(to), before)
  }
})

test.run()
