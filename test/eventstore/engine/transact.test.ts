import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { foldSource } from '../../../src/eventstore/engine/fold.ts'
import { newWatermark } from '../../../src/eventstore/engine/watermark.ts'
import { Rejected, Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import type { StateSource } from '../../../src/eventstore/engine/load-state.ts'
import {
  LogChanged,
  type EventLog,
  type ExpectedRevision,
  LogUnavailable,
  type PlacedEvent,
} from '../../../src/eventstore/log/log.ts'
import { metadataOf } from '../../../src/eventstore/log/metadata.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { all, errorOf } from '../log/support/events.ts'
import { dyingAfter } from '../log/support/segments.ts'
import { openBareLog } from '../../support/bare-log.ts'
import { freshDatabase } from '../../support/database.ts'
import {
  type Counter,
  type CounterEvent,
  codec,
  count,
  counters,
  newCounters,
  newTotals,
  reach,
} from './support/counters.ts'

const test = suite('engine/transact')

const database = await freshDatabase()
const log = wholeAppends(openBareLog(database.url))
test.after(async () => {
  await log.close()
  await database.drop()
})

const eventsOf = (id: string, from: EventLog = log) => all(from.read(`counter-${id}`))

/** A log that counts its appends, and lets a test step in before one reaches it. */
const watched = (before: (append: number) => Promise<unknown> | void = () => {}) => {
  let appends = 0
  const append: EventLog['append'] = async (...request) => {
    await before(++appends)
    return log.append(...request)
  }
  return { log: { ...log, append }, appends: () => appends }
}

test('commands for one stream share appends, and each gets its own answer', async () => {
  const id = randomUUID()
  const { log, appends } = watched()
  const node = newCounters(log)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => node.transact(id, count(), {})))
  assert.equal(
    outcomes.map(({ answer }) => answer),
    outcomes.map((_, i) => i + 1),
  )
  assert.ok(appends() <= 2, `${appends()} appends`)
  assert.is((await eventsOf(id)).length, 50)
})

test('a refused command does not affect the others', async () => {
  const id = randomUUID()
  const node = newCounters(log)
  const asked = [count(1), count(5, { most: 3 }), count(1), count(9, { most: 3 }), count(1)]
  const settled = await Promise.allSettled(asked.map((command) => node.transact(id, command, {})))
  assert.equal(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.answer : (one.reason as Rejected).code)),
    [1, 'forbidden', 2, 'forbidden', 3],
  )
})

test('a refusal names the position of the newest event that it depends on', async () => {
  const id = randomUUID()
  const [node, other] = [newCounters(log), newCounters(log)]
  const { position } = await node.transact(id, count(5), {})
  for (const each of [node, other])
    assert.is(((await errorOf(each.transact(id, count(1, { most: 3 }), {}))) as Rejected).position, position)
})

test('a command with an event that cannot be written stores none of its events', async () => {
  const id = randomUUID()
  const node = newCounters(log)
  const unknown = { type: 'Miscounted', data: { by: 1, note: '' } } as unknown as CounterEvent
  const broken = { ...count(), decide: (state: Counter) => [...count(10).decide(state), unknown] }
  const settled = await Promise.allSettled([count(1), broken, count(1)].map((one) => node.transact(id, one, {})))
  assert.equal(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.answer : (one.reason as Error).name)),
    [1, 'UnknownEvent', 2],
  )
  assert.is((await eventsOf(id)).length, 2)
})

for (const [what, broken] of Object.entries({
  'changing the state': { note: 'bad' },
  'being answered': { note: '', answer: () => assert.unreachable() },
})) {
  test(`a command that fails while ${what} stores nothing, and its changes do not show in the others`, async () => {
    const id = randomUUID()
    const node = newTotals(log)
    const add = (by: number, more: object = {}) => ({ ...count(by), ...more })
    await node.transact(id, add(1), {})
    const two = (state: Counter) => [...count(10).decide(state), ...count(100, { note: broken.note }).decide(state)]
    const asked = [add(2), add(0, { ...broken, decide: two }), add(4), add(0, { ...broken, decide: two }), add(8)]
    const settled = await Promise.allSettled(asked.map((command) => node.transact(id, command, {})))
    assert.equal(
      settled.map((one) => (one.status === 'fulfilled' ? one.value.answer : one.status)),
      [3, 'rejected', 7, 'rejected', 15],
    )
    await errorOf(node.transact(id, add(0, { ...broken, decide: two }), {}))
    assert.is((await node.transact(id, reach(0), {})).answer, 15, 'what was in memory is not used any more')
    assert.equal(
      (await eventsOf(id)).map(({ data }) => JSON.parse(data).by),
      [1, 2, 4, 8],
    )
  })
}

test('a decision may return a result besides its events, which only its caller gets', async () => {
  const id = randomUUID()
  const node = newCounters(log)
  const add = (by: number) => ({
    decide: (state: Counter) => ({ events: count(by).decide(state), result: `from ${state.total}` }),
    answer: (state: Counter, events: readonly CounterEvent[], result: string) =>
      `${result} to ${state.total} by ${events.length}`,
  })
  const outcomes = await Promise.all([add(1), add(2), add(4)].map((command) => node.transact(id, command, {})))
  assert.equal(
    outcomes.map(({ answer }) => answer),
    ['from 0 to 1 by 1', 'from 1 to 3 by 1', 'from 3 to 7 by 1'],
  )
})

test('each event holds its author and its request', async () => {
  const id = randomUUID()
  const node = newCounters(log)
  const ask = (userId: string) => node.transact(id, count(), { actor: { userId }, requestId: `of ${userId}` })
  await Promise.all(['ann', 'bob'].map(ask))
  const recorded = (await eventsOf(id)).map((event) => metadataOf(event))
  assert.equal(
    recorded.map(({ actor, requestId }) => [actor?.userId, requestId]),
    [
      ['ann', 'of ann'],
      ['bob', 'of bob'],
    ],
  )
})

test('when another node has appended meanwhile, commands are decided again, and so are refusals', async () => {
  const id = randomUUID()
  const other = newCounters(log)
  const { log: slow } = watched(async (append) => append === 2 && (await other.transact(id, count(-10), {})))
  const node = newCounters(slow)
  await node.transact(id, count(10), {})
  const [passed, refused] = await Promise.all([
    node.transact(id, count(1, { most: 11 }), {}),
    node.transact(id, count(5, { most: 11 }), {}),
  ])
  assert.equal(
    [passed.answer, refused.answer],
    [1, 6],
    'the second one was too much before the other node counted down',
  )
})

test('two nodes that count at the same time lose nothing', async () => {
  const id = randomUUID()
  const nodes = [newCounters(log), newCounters(log)]
  const work = nodes.flatMap((node) => Array.from({ length: 40 }, async () => node.transact(id, count(), {})))
  await Promise.all(work)
  assert.is((await newCounters(log).transact(id, reach(0), {})).answer, 80)
})

test('a command that changes nothing waits for the events that it depends on', async () => {
  const id = randomUUID()
  const { position } = await newCounters(log).transact(id, count(3), {})
  const node = newCounters(log)
  for (const outcome of [await node.transact(id, reach(3), {}), await node.transact(id, reach(3), {})]) {
    assert.is(outcome.position, position)
  }
  assert.is((await eventsOf(id)).length, 1)
})

/** A log that counts how often it is asked for the end of a stream. */
const asked = () => {
  let times = 0
  const last = (stream: string) => {
    times += 1
    return log.last(stream)
  }
  return { log: { ...log, last }, times: () => times }
}

/** What read models show that have stopped: no more than the first so many events. */
const stale = (most: bigint): StateSource<Counter, void> => ({
  load: async (id) => {
    async function* read(stream: string) {
      for await (const event of log.read(stream)) if (event.revision < most) yield event
    }
    return foldSource(counters, { ...log, read }, codec).load(id, [], 0n)
  },
})

test('changes of another node are seen also by a command that changes nothing, or is refused', async () => {
  const id = randomUUID()
  const [node, other] = [newCounters(log), newCounters(log)]
  await node.transact(id, count(3), {})
  await other.transact(id, count(-1), {})
  assert.is((await node.transact(id, reach(3), {})).answer, 3, 'memory says that there is nothing to do')
  await other.transact(id, count(-1), {})
  assert.is((await node.transact(id, count(1, { most: 3 }), {})).answer, 3, 'memory says that it is too much')
  assert.is((await eventsOf(id)).length, 5)
})

test('a state from a read model is compared with the log before a command is refused', async () => {
  const id = randomUUID()
  const other = newCounters(log)
  await other.transact(id, count(3), {})
  await other.transact(id, count(-1), {})
  let most = 1n
  const behind = { load: (...asked: Parameters<ReturnType<typeof stale>['load']>) => stale(most++).load(...asked) }
  const node = () => newCounters(log, { source: behind })
  assert.is((await node().transact(id, reach(3), {})).answer, 3)
  await other.transact(id, count(-1), {})
  most = 3n
  assert.is((await node().transact(id, count(1, { most: 3 }), {})).answer, 3)
  const error = await errorOf(newCounters(log, { source: stale(1n), deadlineMs: 50 }).transact(id, reach(1), {}))
  assert.instance(error, Unavailable, 'it never caught up')
})

test('a command that changes nothing costs one query of the log, and none if the log has just been read', async () => {
  const id = randomUUID()
  const { log, times } = asked()
  const node = newCounters(log)
  await node.transact(id, reach(0), {})
  assert.is(times(), 0)
  await node.transact(id, count(3), {})
  await Promise.all(Array.from({ length: 10 }, () => node.transact(id, reach(3), {})))
  assert.ok(times() >= 1 && times() <= 2, `${times()} questions`)
})

test('a command learns the last event of its stream, whether it appends or not; a refused one does not', async () => {
  const id = randomUUID()
  /** Runs a command; gives what it was told, which the last event in the log has to be. */
  const told = async (node: ReturnType<typeof newCounters>, command: ReturnType<typeof count>) => {
    const events: PlacedEvent[] = []
    const outcome = node.transact(id, command, { noteLastEvent: (event) => void events.push(event) })
    await outcome.catch(() => {})
    return events
  }
  const lastEvent = async () => {
    const { position, id: eventId, revision } = (await eventsOf(id)).at(-1)!
    return [{ position, id: eventId, revision }]
  }
  const node = newCounters(log)
  assert.equal(await told(node, reach(0)), [], 'there is none')
  assert.equal(await told(node, count(3)), await lastEvent(), 'its own')
  assert.equal(await told(node, reach(3)), await lastEvent(), 'by a state in memory')
  assert.equal(await told(newCounters(log), reach(3)), await lastEvent(), 'by the stream')
  const readModels: StateSource<Counter, void> = {
    load: async (...asked) => ({ ...(await stale(9n).load(...asked)), position: 0n, anchor: undefined }),
  }
  const other = newCounters(log, { source: readModels })
  assert.equal(await told(other, reach(3)), await lastEvent(), 'by read models')
  assert.equal(await told(node, count(1, { most: 3 })), [], 'refused')
  await other.transact(id, count(1), {})
  assert.equal(await told(node, reach(4)), await lastEvent(), 'of another node')
  for (const event of await eventsOf(id)) assert.equal(Object.keys(metadataOf(event)), ['at', 'schema', 'append'])
})

/** Counts only at one revision of its stream. */
const countAt = (expected: ExpectedRevision) => ({
  ...count(),
  checkRevision: (_: Counter, revision: ExpectedRevision) => {
    if (revision !== expected) throw new Rejected('changed', `at ${revision}`)
  },
})

/** The message of the refusal of such a command. */
const refusalOf = async (work: Promise<unknown>) => ((await errorOf(work)) as Rejected).message

test('a command that checks the revision is decided alone, at that of the commands before it', async () => {
  const id = randomUUID()
  const { log, appends } = watched()
  const node = newCounters(log)
  const asked = [count(), count(), countAt(1n), countAt(1n), countAt(2n), count(), countAt(4n)]
  const settled = await Promise.allSettled(asked.map((command) => node.transact(id, command, {})))
  assert.equal(
    settled.map((one) => (one.status === 'fulfilled' ? one.value.answer : (one.reason as Rejected).message)),
    [1, 2, 3, 'at 2', 4, 5, 6],
  )
  assert.is(appends(), 6, 'the first command had none to share its append with')
  assert.is(await refusalOf(node.transact(randomUUID(), countAt(0n), {})), 'at none')
})

test('a revision is checked again when another node has appended meanwhile', async () => {
  const id = randomUUID()
  const other = newCounters(log)
  const { log: slow } = watched(async (append) => append === 2 && (await other.transact(id, count(), {})))
  const node = newCounters(slow)
  await node.transact(id, count(), {})
  assert.is(await refusalOf(node.transact(id, countAt(0n), {})), 'at 1')
  await other.transact(id, count(), {})
  assert.is(await refusalOf(node.transact(id, countAt(1n), {})), 'at 2', 'memory has an older state')
  assert.is((await eventsOf(id)).length, 3)
})

test('a node that does not follow the log does not use its cache', async () => {
  const id = randomUUID()
  let isCurrent = true
  const { log: counted, times } = asked()
  const node = newCounters(counted, { isCurrent: () => isCurrent })
  await node.transact(id, count(3), {})
  isCurrent = false
  assert.is(node.peek(id), undefined)
  assert.is((await node.transact(id, reach(3), {})).answer, 3)
  assert.is(times(), 0, 'it has read the stream')
  isCurrent = true
  assert.is(node.peek(id)?.total, 3)
})

test('the state in memory has no command that is under way, and none that has failed', async () => {
  const id = randomUUID()
  const seen: unknown[] = []
  const { log: shaky } = watched((append) => {
    seen.push(node.peek(id)?.total)
    if (append === 3) throw new LogUnavailable('unknown')
  })
  const node = newTotals(shaky)
  for (const by of [1, 2]) await node.transact(id, count(by), {})
  await errorOf(node.transact(id, count(4), {}))
  assert.equal(seen, [undefined, 1, 3])
  assert.is(node.peek(id), undefined)
  assert.is((await node.transact(id, count(8), {})).answer, 11)
  await errorOf(node.transact(id, count(16, { most: 12 }), {}))
  assert.is(node.peek(id)?.total, 11)
})

test('time never goes backwards in a stream', async () => {
  const id = randomUUID()
  const clock = [5_000, 4_000, 6_000, 1_000]
  const node = newCounters(log, { now: () => clock.shift()! })
  for (let i = 0; i < 3; i++) await node.transact(id, count(), {})
  await newCounters(log, { now: () => clock.shift()! }).transact(id, count(), {})
  assert.equal(
    (await eventsOf(id)).map((event) => metadataOf(event).at),
    [5_000, 5_000, 6_000, 6_000],
  )
})

test('a decision knows the current time, and the time that its events will have', async () => {
  const id = randomUUID()
  const clock = [5_000, 4_000, 3_000]
  const node = newCounters(log, { now: () => clock.shift()! })
  const told: number[][] = []
  const { decide, answer } = count()
  const command = {
    decide: (state: Counter, now: number, at: number) => {
      told.push([now, at])
      return decide(state)
    },
    answer,
  }
  for (let i = 0; i < 3; i++) await node.transact(id, command, {})
  assert.equal(told, [
    [5_000, 5_000],
    [4_000, 5_000],
    [3_000, 5_000],
  ])
})

test('a read returns the newest state, whoever wrote it, and appends nothing', async () => {
  const id = randomUUID()
  const [node, other] = [newCounters(log, { now: () => 7_000 }), newCounters(log)]
  await node.transact(id, count(1), {})
  await other.transact(id, count(2), {})
  const found = await Promise.all([
    node.read(id, ({ total }, now) => [total, now]),
    node.transact(id, count(4), {}).then(({ answer }) => answer),
    node.read(id, ({ total }) => total),
  ])
  assert.equal(found, [[3, 7_000], 7, 7])
  const refuses = node.read(id, () => {
    throw new Rejected('forbidden')
  })
  assert.is(((await errorOf(refuses)) as Rejected).code, 'forbidden')
  assert.is((await eventsOf(id)).length, 3)
})

test('an observed event of another node drops a cached state that is outdated', async () => {
  const id = randomUUID()
  const [node, other] = [newCounters(log), newCounters(log)]
  await node.transact(id, count(1), {})
  await other.transact(id, count(1), {})
  node.observe(`counter-${id}`, 0n)
  assert.is(node.peek(id)?.total, 1)
  node.observe(`counter-${id}`, 1n)
  assert.is(node.peek(id), undefined)
  assert.is((await node.transact(id, reach(2), {})).answer, 2)
})

test('a state that was loaded before an event was observed is not cached', async () => {
  const id = randomUUID()
  const other = newCounters(log)
  await other.transact(id, count(1), {})
  const { load, ...rest } = foldSource(counters, log, codec)
  const source = {
    ...rest,
    load: async (...asked: Parameters<typeof load>) => {
      const loaded = await load(...asked)
      await other.transact(id, count(1), {})
      node.observe(`counter-${id}`, 1n)
      return loaded
    },
  }
  const node = newCounters(log, { source })
  assert.is((await node.transact(id, reach(1), {})).answer, 1, 'as it was when it was loaded')
  assert.is(node.peek(id), undefined)
})

test('orphans of an append that a crash interrupted do not block a stream', async () => {
  const bare = openBareLog(database.url, { maxAppendBytes: 40 })
  const whole = wholeAppends(bare)
  const note = 'x'.repeat(100)
  for (const before of [0, 1]) {
    const id = randomUUID()
    if (before > 0) await newCounters(whole).transact(id, count(1, { note }), {})
    const dying = newCounters(dyingAfter(2, bare))
    const error = (await errorOf(dying.transact(id, count(1, { note }), {}))) as Unavailable
    assert.instance(error, Unavailable)
    assert.is(error.stored, 'unknown')
    const node = newCounters(whole)
    assert.is((await node.transact(id, count(1, { note }), {})).answer, before + 1)
    assert.is((await node.transact(id, count(1, { note }), {})).answer, before + 2)
    assert.is((await eventsOf(id, whole)).length, before + 2)
  }
  await bare.close()
})

test('orphans block no command that changes nothing', async () => {
  const bare = openBareLog(database.url, { maxAppendBytes: 40 })
  const whole = wholeAppends(bare)
  const id = randomUUID()
  await newCounters(whole).transact(id, count(3), {})
  await errorOf(newCounters(dyingAfter(2, bare)).transact(id, count(1, { note: 'x'.repeat(100) }), {}))
  const node = newCounters(whole, { source: stale(1n) })
  for (let i = 0; i < 2; i++) assert.is((await node.transact(id, reach(3), {})).answer, 3)
  assert.is((await node.transact(id, count(), {})).answer, 4)
  await bare.close()
})

test('orphans do not count in the revision that a command checks and learns, because no reader sees them', async () => {
  const bare = openBareLog(database.url, { maxAppendBytes: 40 })
  const whole = wholeAppends(bare)
  const id = randomUUID()
  await newCounters(whole).transact(id, count(), {})
  await errorOf(newCounters(dyingAfter(2, bare)).transact(id, count(1, { note: 'x'.repeat(100) }), {}))
  const node = newCounters(whole, { source: stale(1n) })
  let told: bigint | undefined
  const noteLastEvent = ({ revision }: PlacedEvent) => void (told = revision)
  for (let i = 0; i < 2; i++) {
    await node.transact(id, reach(1), { noteLastEvent })
    assert.is(told, 0n)
    assert.is(await refusalOf(node.transact(id, countAt(2n), {})), 'at 0')
  }
  assert.is((await node.transact(id, countAt(0n), { noteLastEvent })).answer, 2)
  assert.is(told, (await eventsOf(id, whole)).at(-1)!.revision)
  await bare.close()
})

test('a conflict with an event that cannot be read yet is still a conflict', async () => {
  const id = randomUUID()
  let looks = 0
  const isSeen = (revision: bigint) => revision === 0n || --looks < 0
  const late: EventLog = {
    ...log,
    last: async (stream) => (isSeen(1n) ? log.last(stream) : { revision: 0n, position: 1n, id: randomUUID() }),
    async *read(...asked) {
      for await (const event of log.read(...asked)) if (isSeen(event.revision)) yield event
    },
  }
  const [node, other] = [newCounters(late), newCounters(log)]
  await node.transact(id, count(), {})
  await other.transact(id, count(), {})
  looks = 7
  assert.is((await node.transact(id, count(), {})).answer, 3)
  assert.is((await eventsOf(id)).length, 3)
})

test('no command waits for ever for a stream that others keep changing', async () => {
  const id = randomUUID()
  const other = newCounters(log)
  const { log: busy } = watched(async () => other.transact(id, count(), {}))
  const node = newCounters(busy, { deadlineMs: 50 })
  const error = (await errorOf(node.transact(id, count(), {}))) as Unavailable
  assert.instance(error, Unavailable)
  assert.is(error.stored, false)
})

test('when the log is unreachable all waiting commands are refused, and nothing of them is cached', async () => {
  const id = randomUUID()
  let isAway = true
  const { log: shaky, appends } = watched(() => {
    if (isAway) throw new LogUnavailable(false)
  })
  const node = newCounters(shaky)
  const failed = await Promise.allSettled([1, 2, 3].map((by) => node.transact(id, count(by), {})))
  assert.ok(failed.every((one) => one.status === 'rejected' && one.reason instanceof Unavailable))
  assert.is(appends(), 1, 'who waits behind that does not wait as long again')
  isAway = false
  assert.is((await node.transact(id, count(1), {})).answer, 1)
})

test('work that appends by itself has the stream alone, and later commands are decided on the state that it leaves', async () => {
  const id = randomUUID()
  const node = newCounters(log)
  const before = node.transact(id, count(), {})
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const work = node.exclusively(id, 'busy', async () => {
    assert.is((await eventsOf(id)).length, 1)
    await held
    await newCounters(log).transact(id, count(), {})
    return 'done'
  })
  const behind = node.transact(id, count(), {})
  await before
  assert.is((await eventsOf(id)).length, 1)
  goOn()
  assert.is(await work, 'done')
  assert.is((await behind).answer, 3)
  const failed = node.exclusively(id, 'busy', () => Promise.reject(new Error('no')))
  const last = node.transact(id, count(), {})
  assert.is(((await errorOf(failed)) as Error).message, 'no')
  assert.is((await last).answer, 4)
})

test('a command that waits for such work is refused at its deadline', async () => {
  const id = randomUUID()
  const node = newCounters(log, { deadlineMs: 1 })
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const work = node.exclusively(id, 'busy', () => held)
  const error = (await errorOf(node.transact(id, count(), {}))) as Unavailable
  assert.equal([error.name, error.message, error.stored], ['Unavailable', 'busy', false])
  goOn()
  await work
})

test('large commands do not share an append', async () => {
  const id = randomUUID()
  const { log, appends } = watched()
  const node = newCounters(log)
  const note = 'x'.repeat(3 * 1024 * 1024)
  await Promise.all(Array.from({ length: 4 }, () => node.transact(id, count(1, { note }), {})))
  assert.is(appends(), 3, 'the first at once, then two, then the one that would be too much')
})

test('a watermark ahead of the log stems from lost events, and a new event is not taken for visible because of it', async () => {
  const models = newWatermark()
  models.advance((await log.head()) + 1_000_000n) // as read models stand after the log has lost its end
  const node = newCounters(log, { watermark: models })
  const { epoch } = await log.identity()
  const error = await errorOf(node.transact(randomUUID(), count(), {}))
  assert.ok(error instanceof Unavailable && error.stored === true)
  assert.instance(await errorOf(log.head()), LogChanged, 'every node is to compare what it has with the log')
  const again = openBareLog(database.url)
  assert.not.equal((await again.identity()).epoch, epoch)
  await again.close()
})

test.run()
