import * as assert from 'uvu/assert'
import {
  type Batch,
  type EventLog,
  LogChanged,
  LogUnavailable,
  type RecordedEvent,
} from '../../../../src/eventstore/log/log.ts'
import { metadataOf } from '../../../../src/eventstore/log/metadata.ts'
import { failure } from '../../../support/eventstoredb/faults.ts'
import { stillHeld } from '../../../support/held-objects.ts'
import { aStream, bodies, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { until } from '../../../support/until.ts'

const test = eventStoreSuite('followers of EventStoreDB')

/** Events one by one, so that a follower at the end has to wait for each. */
const trickle = async (log: EventLog, prefix: string, count: number) => {
  for (let i = 0; i < count; i++) await log.append(`${prefix}-${i}`, 'none', numbered(1, i))
}

const counted = (count: number) => Array.from({ length: count }, (_, i) => `{"n":${i}}`)

for (const how of ['slow', 'silently'] as const)
  test(`a dropped subscription is made again, and nothing is missed: ${how}`, async ({ open, double }) => {
    const [log, other] = [open(), open()]
    const following = followPrefix(log, 'a', { after: 0n, count: 30 })
    for (let round = 0; round < 3; round++) {
      await until(() => double.subscriptions.count() === 1)
      double.subscriptions.drop(how)
      await until(() => double.subscriptions.count() === 1) // without an event that would tell of the loss
      await trickle(other, `a-${round}`, 10)
    }
    assert.equal(bodies(await following), [...counted(10), ...counted(10), ...counted(10)])
    assert.ok(double.faults.count('subscribe') >= 3)
  })

test('a subscription that is silently frozen is detected and replaced', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  const following = followPrefix(log, 'a', { after: 0n, count: 3 })
  await until(() => double.subscriptions.count() === 1)
  double.subscriptions.drop('frozen')
  await trickle(other, 'a', 1)
  await until(() => double.faults.count('subscribe') === 2)
  double.subscriptions.thaw()
  await trickle(other, 'b', 1)
  await trickle(other, 'a-later', 2)
  assert.equal(bodies(await following), ['{"n":0}', '{"n":0}', '{"n":1}'])
  stop.abort()
})

test('followers work without a subscription', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  double.faults.failNext('subscribe', failure(7, 'no'), 1_000)
  const following = followPrefix(log, 'a', { after: 0n, count: 3 })
  await until(() => double.faults.count('subscribe') > 0)
  await trickle(other, 'a', 3)
  assert.equal(bodies(await following), counted(3))
})

test('more appends than a live subscriber can take are all seen', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const following = followPrefix(log, 'a', { after: 0n, count: 2_000 })
  await until(() => double.subscriptions.count() === 1)
  for (let i = 0; i < 5; i++) await other.append(`a-${i}`, 'none', numbered(400))
  assert.equal((await following).map(essence), (await readPrefix(other, 'a')).map(essence))
})

test('a busy follower does not receive everything twice', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  const batches = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]()
  await batches.next()
  const waiting = batches.next()
  await until(() => double.subscriptions.count() === 1)
  await trickle(other, 'a', 1)
  await waiting // and now it takes its time
  for (let i = 0; i < 4; i++) await other.append(`b-${i}`, 'none', numbered(100))
  await until(() => double.subscriptions.count() === 0)
  stop.abort()
})

/** Goes on until the follower ends. @throws what it ends with */
const readOn = async (batches: AsyncIterator<Batch>) => {
  while (!(await batches.next()).done);
}

test('a follower learns that the log has lost its end, even if its position is now within a record', async ({
  open,
  double,
}) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  await trickle(other, 'a', 3)
  await log.identity()
  const kept = double.store.all().length
  await trickle(other, 'b', 3)
  const head = await log.head()
  const batches = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]()
  while ((await batches.next()).value!.through < head);
  await double.stop()
  double.store.keepFirst(kept)
  double.store.writeForeign(50, 333)
  await double.start()
  assert.not.ok(double.store.isReadable(head))
  const error = await readOn(batches).catch((reason: unknown) => reason)
  assert.instance(error, LogChanged)
  stop.abort()
})

test('a page that was read ahead is not delivered from a log that has lost it meanwhile', async ({ open, double }) => {
  const [log, other] = [open({ deadlineMs: 1_000 }), open()]
  await log.identity()
  await other.append('a', 'none', numbered(4_000)) // a page
  const kept = double.store.all().length
  await other.append('lost', 'none', numbered(5))
  const stop = new AbortController()
  const batches = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]()
  const reads = double.faults.count('read')
  await batches.next()
  await until(() => double.faults.count('read') === reads + 3) // a page, the metadata of its stream, and the next page
  await log.head() // and so that one has come
  await double.stop()
  double.store.keepFirst(kept)
  assert.instance(await log.head().catch((reason: unknown) => reason), LogUnavailable)
  const streams = new Set<string>()
  const reading = (async () => {
    for (;;) for (const { stream } of (await batches.next()).value!.events) streams.add(stream)
  })().catch((reason: unknown) => reason)
  await double.start()
  await other.append('new', 'none', numbered(3))
  assert.instance(await reading, LogChanged)
  assert.not.ok(streams.has('lost'))
  stop.abort()
})

test('after restarts, resets and failures a follower misses and repeats nothing', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const prefix = aStream()
  const following = [log, other].map((each) => followPrefix(each, prefix, { after: 0n, count: 300 }))
  const writing = Promise.all([0, 1, 2].map((name) => trickle(log, `${prefix}-${name}`, 100)))
  let isWriting = true
  void writing.then(() => (isWriting = false))
  for (let round = 0; isWriting && round < 12; round++) {
    const stored = double.store.all().length
    await until(() => !isWriting || double.store.all().length > stored + 15)
    if (round % 3 === 0) await double.reset()
    else if (round % 3 === 1) double.faults.failNext('read', failure(14, 'Connection dropped'), 3)
    else {
      await double.stop()
      await double.start()
    }
  }
  await writing
  const stored = (await readPrefix(log, prefix)).map(essence)
  assert.is(stored.length, 300)
  for (const seen of await Promise.all(following)) assert.equal(seen.map(essence), stored)
})

test('a scavenge during a follow loses nothing', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const following = followPrefix(log, 'kept', { after: 0n, count: 40 })
  for (let i = 0; i < 20; i++) {
    await other.append(`gone-${i}`, 'none', numbered(5))
    await other.append(`kept-${i}`, 'none', numbered(2))
    await other.truncate(`gone-${i}`, 5n)
    if (i % 4 === 0) double.store.scavenge()
  }
  assert.equal((await following).map(essence), (await readPrefix(other, 'kept')).map(essence))
})

test('what another process truncates, a slow follower does not get from the memory of what faster ones have read', async ({
  open,
}) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  const [slow, fast] = [0, 1].map(() => log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]())
  const upTo = async (batches: AsyncIterator<Batch>, stream: string) => {
    const seen: RecordedEvent[] = []
    while (seen.at(-1)?.stream !== stream) seen.push(...(await batches.next()).value!.events)
    return seen.map((event) => [event.stream, event.data])
  }
  await slow!.next()
  await other.append('gone', 'none', numbered(3))
  await other.append('a', 'none', numbered(1))
  assert.is((await upTo(fast!, 'a')).length, 4)
  await other.truncate('gone', 2n)
  await other.append('b', 'none', numbered(1))
  await upTo(fast!, 'b')
  assert.equal(await upTo(slow!, 'b'), [
    ['gone', '{"n":2}'],
    ['a', '{"n":0}'],
    ['b', '{"n":0}'],
  ])
  stop.abort()
})

test('`through` passes events of the server itself', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(1))
  const stop = new AbortController()
  const following = (async () => {
    for await (const { through } of log.follow({ after: 0n, signal: stop.signal })) {
      const last = double.store.all().at(-1)!
      if (last.stream.startsWith('$scavenges') && through === last.position) return
    }
  })()
  double.store.scavenge()
  await following
  stop.abort()
})

test('many followers share one subscription and leave room for other calls', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const following = Array.from({ length: 150 }, () => followPrefix(log, 'a', { after: 0n, count: 5 }))
  await until(() => double.subscriptions.count() === 1)
  await trickle(other, 'a', 5)
  for (const seen of await Promise.all(following)) assert.equal(bodies(seen), counted(5))
  assert.is(double.subscriptions.count() <= 1, true)
})

test('followers in the process that writes get events with the values parsed from their texts', async ({ open }) => {
  const [log, other] = [open(), open()]
  const events = numbered(3).map((event) => ({ ...event, decoded: { data: {}, metadata: metadataOf(event) } }))
  const stop = new AbortController()
  const batches = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]()
  await log.append('a', 'none', events)
  const seen: RecordedEvent[] = []
  while (seen.length < 3) seen.push(...((await batches.next()).value as Batch).events)
  assert.equal(
    seen.map(({ decoded }) => decoded),
    events.map(({ decoded }) => decoded),
  )
  assert.ok((await followPrefix(other, 'a', { after: 0n, count: 3 })).every(({ decoded }) => decoded === undefined))
  stop.abort()
})

test('a follower keeps no reference to events it has returned', async ({ open }) => {
  const [log, other] = [open(), open()]
  const stop = new AbortController()
  const batches = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]()
  const given: WeakRef<object>[] = []
  /** Appends one event and follows until it comes. */
  const go = async () => {
    await other.append(aStream(), 'none', numbered(1))
    for (;;) {
      const { events } = (await batches.next()).value as Batch
      if (events.length === 0) continue
      given.push(new WeakRef(events))
      return
    }
  }
  for (let i = 0; i < 50; i++) await go()
  await log.truncate('any', 0n) // drops what the process keeps for its other followers
  await until(async () => {
    await go()
    return stillHeld(given.slice(0, 50)) === 0
  })
  stop.abort()
})

test('closing a log closes its connections', async ({ open, double }) => {
  const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
  const before = sockets()
  const logs = Array.from({ length: 5 }, () => open())
  const stop = new AbortController()
  const following = logs.map((log) => followPrefix(log, 'a', { after: 0n, count: 2 }))
  await until(() => double.subscriptions.count() === 5)
  assert.ok(sockets() > before)
  await logs[0]!.append('a', 'none', numbered(1))
  await Promise.all(logs.map((log) => log.close()))
  await Promise.all(following)
  await until(() => sockets() <= before && double.subscriptions.count() === 0)
  stop.abort()
})

test.run()
