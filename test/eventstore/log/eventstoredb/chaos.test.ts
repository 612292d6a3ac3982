import * as assert from 'uvu/assert'
import { type EventLog, LogUnavailable, type RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { aStream, essence, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import type { Mode } from '../support/proxy.ts'
import { until } from '../../../support/until.ts'

const test = eventStoreSuite('EventStoreDB over a bad network')

const WRITERS = 6
const TURNS: readonly Mode[] = ['deaf', 'pass', 'stall', 'pass', 'refuse', 'pass', 'stall', 'deaf', 'stall', 'pass']

type Tried = { readonly id: string; readonly outcome: 'stored' | 'refused' | 'unknown' }

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

const followTo = async (log: EventLog, last: string) => {
  const seen: RecordedEvent[] = []
  for await (const { events } of log.follow({ after: 0n, signal: new AbortController().signal })) {
    seen.push(...events)
    if (events.some(({ stream }) => stream === last)) return seen.map(essence)
  }
  return []
}

test('acknowledged events are there once, refused ones are not, and followers see all', async (scene) => {
  const { proxy, url } = await scene.network()
  const [log, direct] = [scene.open({ url, deadlineMs: 150 }), scene.open()]
  const prefix = aStream()
  const tried: Tried[] = []
  let writing = true
  const write = async () => {
    while (writing) tried.push(await tryOne(log, prefix))
  }
  const following = [log, direct].map((each) => followTo(each, `${prefix}-last`))
  const writers = Array.from({ length: WRITERS }, write)
  for (const mode of TURNS) {
    const before = tried.length
    proxy.set(mode)
    await until(() => tried.length >= before + 3 * WRITERS)
  }
  proxy.set('pass')
  await until(() => tried.some(({ outcome }) => outcome === 'stored')) // also on a machine that is slow just now
  writing = false
  await Promise.all(writers)
  proxy.cut()
  proxy.set('pass')
  await direct.append(`${prefix}-last`, 'none', numbered(1))
  const followed = await Promise.all(following)
  const stored = await readPrefix(direct, prefix)
  assertKept(tried, stored)
  assert.ok(tried.some(({ outcome }) => outcome === 'stored') && tried.some(({ outcome }) => outcome === 'unknown'))
  const last = stored.findIndex(({ stream }) => stream === `${prefix}-last`)
  for (const seen of followed) assert.equal(seen.slice(0, last + 1), stored.slice(0, last + 1).map(essence))
})

test.run()
