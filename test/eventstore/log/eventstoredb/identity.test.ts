import * as assert from 'uvu/assert'
import { newId } from '../../../../src/base/ids.ts'
import { type EventLog, LogChanged } from '../../../../src/eventstore/log/log.ts'
import { failure } from '../../../support/eventstoredb/faults.ts'
import { all, bodies, errorOf, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'

const test = eventStoreSuite('the identity of a log in EventStoreDB')

test('all processes see the same log id, from the first call on', async ({ open }) => {
  const logs = [open(), open(), open()]
  const [first, ...others] = await Promise.all(logs.map((log) => log.identity()))
  for (const other of others) assert.equal(other, first)
  assert.equal(await open().identity(), first)
  assert.is.not(first!.id, first!.epoch)
})

test('processes that create the identity at once agree, also when reads lag behind', async ({ open, double }) => {
  double.visibility.hideNext('$$tracebook.identity', 6)
  const [one, two] = await Promise.all([open().identity(), open().identity()])
  assert.equal(one, two)
})

test('each prefix is a log of its own', async ({ open }) => {
  const [mine, theirs] = [await open().identity(), await open({ prefix: 'other.' }).identity()]
  assert.is.not(mine.id, theirs.id)
})

test('an epoch is renewed once, however many processes have seen the old one', async ({ open }) => {
  const logs = [open(), open(), open()]
  const before = await logs[0]!.identity()
  const after = await Promise.all(logs.map((log) => log.renewEpoch(before.epoch)))
  for (const identity of after) assert.equal(identity, after[0])
  assert.is(after[0]!.id, before.id)
  assert.is.not(after[0]!.epoch, before.epoch)
  assert.equal(await open().renewEpoch(before.epoch), after[0])
  assert.equal(await open().identity(), after[0])
})

test('the identity outlives restarts and scavenges', async ({ open, double }) => {
  const log = open()
  const { epoch } = await log.identity()
  const identity = await log.renewEpoch(epoch)
  double.store.scavenge()
  await double.stop()
  await double.start()
  assert.equal(await open().identity(), identity)
  assert.is(double.store.stream('$$tracebook.identity')!.length, 2)
})

test('a log whose identity was copied from another gets its own', async ({ open, another }) => {
  const log = open()
  const { id, epoch } = await log.identity()
  const restored = open({ url: (await another()).url })
  const identity = await restored.renewEpoch(epoch)
  assert.is.not(identity.id, id)
  assert.equal(await restored.identity(), identity)
})

test('followers and readers do not see the identity', async ({ open }) => {
  const log = open()
  await log.append('a', 'none', numbered(1))
  await log.renewEpoch((await log.identity()).epoch)
  const again = open()
  const following = followPrefix(again, '', { after: 0n, count: 2 })
  await again.append('a', 0n, numbered(1, 1))
  assert.equal(bodies(await following), ['{"n":0}', '{"n":1}'])
  assert.equal(bodies(await readPrefix(again, '')), ['{"n":0}', '{"n":1}'])
  assert.equal(await all(again.read('identity')), [])
})

test('an event is found at its position, and nowhere else', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(3))
  const [first, second, last] = await all(log.readAll({ after: 0n }))
  for (const { position, id } of [first!, second!, last!]) assert.is(await log.holds(position, id), true)
  assert.is(await log.holds(first!.position, second!.id), false)
  for (const position of [second!.position + 1n, last!.position + 1n, last!.position + 1_000_000n])
    assert.is(await log.holds(position, second!.id), false)
  for (const { position, id, stream } of double.store.all())
    assert.is(await log.holds(position, id), stream === 'tracebook.a', stream)
})

test('an erased event is found until the scavenge, and then the answer is unknown', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(3))
  const [first, second, last] = await all(log.readAll({ after: 0n }))
  await log.truncate('a', 2n)
  assert.is(await log.holds(first!.position, first!.id), true)
  double.store.scavenge()
  for (const position of [first!.position, second!.position, first!.position + 1n])
    assert.is(await log.holds(position, first!.id), undefined)
  assert.is(await log.holds(last!.position, last!.id), true)
  assert.is(await log.holds(last!.position, first!.id), false)
  assert.is(await log.holds(double.store.all().at(-1)!.position + 1_000_000n, first!.id), false)
})

test('a failure does not count as an answer', async ({ open, double }) => {
  const log = open()
  const { position } = await log.append('a', 'none', numbered(1))
  const [event] = await all(log.read('a'))
  double.faults.failNext('read', failure(2, 'Unexpected ReadAllResult: Error'))
  assert.is(await log.holds(position, event!.id), true)
  double.faults.failNext('read', failure(14, 'Connection dropped'), 3)
  assert.is(await log.holds(position, newId()), false)
})

for (const [how, read] of [
  ['events', (log: EventLog) => all(log.read('a'))],
  ['last', (log: EventLog) => log.last('a')],
] as const)
  test(`reading the ${how} of a stream reveals that the log has lost its end`, async ({ open, double }) => {
    const [log, other] = [open(), open()]
    await other.append('a', 'none', numbered(1))
    await log.identity()
    const kept = double.store.all().length
    await other.append('a', 0n, numbered(1, 1))
    await followPrefix(log, '', { after: 0n, count: 2 })
    await double.stop()
    double.store.keepFirst(kept)
    await double.start()
    const error = await read(log).catch((reason: unknown) => reason)
    assert.instance(error, LogChanged)
    assert.instance(await errorOf(log.head()), LogChanged)
    await read(open())
  })

test.run()
