import * as assert from 'uvu/assert'
import { type EventLog, LogUnavailable, type RecordedEvent } from '../../../src/eventstore/log/log.ts'
import { until } from '../../support/until.ts'
import { aStream, essence, numbered, readPrefix } from './support/events.ts'
import { eventStoreSuite } from './support/eventstoredb-scene.ts'
import { backends, faultSuite } from './support/faults.ts'
import type { Mode, Proxy } from './support/proxy.ts'

const WRITERS = 6
const TURNS: readonly Mode[] = ['deaf', 'pass', 'stall', 'pass', 'refuse', 'pass', 'stall', 'deaf', 'stall', 'pass']

type Outcome = 'stored' | 'refused' | 'unknown'
type Tried = { readonly id: string; readonly outcome: Outcome }

/** Appends one event to a stream of its own. */
const tryOne = async (log: EventLog, prefix: string): Promise<Tried> => {
  const events = numbered(2)
  const id = events[0]!.id
  try {
    await log.append(aStream(prefix), 'none', events)
    return { id, outcome: 'stored' }
  } catch (error) {
    assert.instance(error, LogUnavailable)
    return { id, outcome: (error as LogUnavailable).stored === false ? 'refused' : 'unknown' }
  }
}

const assertKept = (tried: readonly Tried[], stored: readonly RecordedEvent[]) => {
  const times = new Map<string, number>()
  for (const { id, revision } of stored) if (revision === 0n) times.set(id, (times.get(id) ?? 0) + 1)
  for (const { id, outcome } of tried) {
    const found = times.get(id) ?? 0
    if (outcome === 'stored') assert.is(found, 1, 'what was acknowledged is there once')
    if (outcome === 'refused') assert.is(found, 0, 'what was refused is not there')
    assert.ok(found <= 1)
  }
}

/** All events up to that of a stream, which is the last. */
const followTo = async (log: EventLog, last: string) => {
  const seen: RecordedEvent[] = []
  for await (const { events } of log.follow({ after: 0n, signal: new AbortController().signal })) {
    seen.push(...events)
    if (events.some(({ stream }) => stream === last)) break
  }
  return upTo(last, seen).map(essence)
}

const upTo = (last: string, events: readonly RecordedEvent[]) =>
  events.slice(0, events.findIndex(({ stream }) => stream === last) + 1)

/** One log behind a proxy, whose network fails, and directly. */
type Logs = { readonly log: EventLog; readonly direct: EventLog; readonly proxy: Proxy }

/** Writes over the bad network until appends have ended in all these ways, and checks what is stored and followed. */
const assertSurvives = async ({ log, direct, proxy }: Logs, ...wanted: readonly Outcome[]) => {
  const prefix = aStream()
  const last = `${prefix}-last`
  const tried: Tried[] = []
  let writing = true
  const write = async () => {
    while (writing) tried.push(await tryOne(log, prefix))
  }
  const following = [log, direct].map((each) => followTo(each, last))
  const writers = Array.from({ length: WRITERS }, write)
  const isMet = () => wanted.every((one) => tried.some(({ outcome }) => outcome === one))
  // On a busy machine one turn of each may be too few to meet all outcomes.
  for (let turn = 0; turn < TURNS.length || !isMet(); turn++) {
    const before = tried.length
    proxy.set(TURNS[turn % TURNS.length]!)
    await until(() => tried.length >= before + 3 * WRITERS)
  }
  writing = false
  await Promise.all(writers)
  proxy.cut()
  proxy.set('pass')
  await direct.append(last, 'none', numbered(1))
  const followed = await Promise.all(following)
  const stored = await readPrefix(direct, prefix)
  assertKept(tried, stored)
  for (const seen of followed) assert.equal(seen, upTo(last, stored).map(essence))
}

const WHAT = 'acknowledged events are there once, refused ones are not, and followers see all'

const postgres = faultSuite('the Postgres log over a bad network')
postgres(WHAT, async ({ proxy, sql, database, open }) => {
  const log = open({ deadlineMs: 120 })
  await assertSurvives({ log, direct: open({ url: database.url }), proxy }, 'stored', 'refused', 'unknown')
  await log.close()
  await until(async () => (await backends(sql, 'writer')) <= 1)
})
postgres.run()

const eventStore = eventStoreSuite('EventStoreDB over a bad network')
eventStore(WHAT, async ({ network, open }) => {
  const { proxy, url } = await network()
  await assertSurvives({ log: open({ url, deadlineMs: 150 }), direct: open(), proxy }, 'stored', 'unknown')
})
eventStore.run()
