import * as assert from 'uvu/assert'
import { type EventLog, LogUnavailable, type RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { aStream, essence, numbered, readPrefix } from '../support/events.ts'
import { backends, faultSuite } from '../support/faults.ts'
import type { Mode } from '../support/proxy.ts'
import { until } from '../../../support/until.ts'

const test = faultSuite('the Postgres log over a bad network')

const WRITERS = 6
const TURNS: readonly Mode[] = ['deaf', 'pass', 'stall', 'pass', 'refuse', 'pass', 'stall', 'deaf', 'stall', 'pass']

type Tried = { readonly id: string; readonly outcome: 'stored' | 'refused' | 'unknown' }

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

/** Follows until the stream `<prefix>-last` shows up. */
const followToLast = async (log: EventLog, prefix: string) => {
  const seen: RecordedEvent[] = []
  for await (const { events } of log.follow({ after: 0n, signal: new AbortController().signal })) {
    seen.push(...events)
    if (events.some(({ stream }) => stream === `${prefix}-last`)) break
  }
  return seen
    .slice(
      0,
      seen.findIndex(({ stream }) => stream === `${prefix}-last`),
    )
    .map(essence)
}

test('acknowledged events are there once, refused ones are not, and followers see all', async (scene) => {
  const { proxy, sql, database } = scene
  const [log, direct] = [scene.open({ deadlineMs: 120 }), scene.open({ url: database.url })]
  const prefix = aStream()
  const tried: Tried[] = []
  let writing = true
  const write = async () => {
    while (writing) tried.push(await tryOne(log, prefix))
  }
  const following = [log, direct].map((each) => followToLast(each, prefix))
  const writers = Array.from({ length: WRITERS }, write)
  const outcomes = () => new Set(tried.map(({ outcome }) => outcome)).size
  // On a busy machine one turn of each may be too few to meet all three outcomes.
  for (let turn = 0; turn < TURNS.length || outcomes() < 3; turn++) {
    const before = tried.length
    proxy.set(TURNS[turn % TURNS.length]!)
    await until(() => tried.length >= before + 3 * WRITERS)
  }
  writing = false
  await Promise.all(writers)
  proxy.cut()
  proxy.set('pass')
  const last = await direct.append(`${prefix}-last`, 'none', numbered(1))
  const followed = await Promise.all(following)
  await log.close()
  await until(async () => (await backends(sql, 'writer')) <= 1)
  const stored = await readPrefix(direct, prefix)
  assertKept(tried, stored)
  const before = stored.filter(({ position }) => position < last.position)
  for (const seen of followed) assert.equal(seen, before.map(essence))
})

test.run()
