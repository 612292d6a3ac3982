import { EventStoreDBClient } from '@eventstore/db-client'
import * as assert from 'uvu/assert'
import { LogUnavailable, WrongRevision } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { all, anAppend, bodies, errorOf, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { bodyOf } from '../support/segments.ts'

const test = eventStoreSuite('conflicts in EventStoreDB')

const credentials = { username: 'admin', password: 'changeit' }

test('events acknowledged to other clients may not be visible yet, in the stream and in $all', async ({
  open,
  double,
}) => {
  const [log, other] = [open(), open()]
  await other.append('a', 'none', numbered(2))
  double.visibility.hideNext('tracebook.a', 2)
  await other.append('a', 1n, numbered(1, 2))
  for (const count of [2, 2, 3]) {
    assert.is((await all(log.read('a'))).length, count)
    assert.is((await readPrefix(log, 'a')).length, count)
  }
})

for (const [what, before] of [
  ['a stream that is there', 2],
  ['a stream that is new', 0],
] as const)
  test(`a conflict is answered when the events behind it can be read: ${what}`, async ({ open, double }) => {
    const [log, other] = [open(), open()]
    if (before > 0) await other.append('a', 'none', numbered(before))
    double.visibility.hideNext('tracebook.a', 7)
    await other.append('a', before > 0 ? BigInt(before - 1) : 'none', numbered(2, before))
    const error = (await errorOf(log.append('a', before > 1 ? 0n : 'none', numbered(1)))) as WrongRevision
    assert.instance(error, WrongRevision)
    assert.is(error.actual, BigInt(before + 1))
    assert.is((await all(log.read('a'))).length, before + 2)
    assert.equal(await all(log.read('a', { from: error.actual as bigint, limit: 1 })).then(bodies), [
      `{"n":${before + 1}}`,
    ])
  })

test('this is also true for a conflict in the middle of a split append', async ({ open, double }) => {
  const [log, other] = [wholeAppends(open({ maxAppendBytes: 500 })), wholeAppends(open())]
  await log.append('a', 'none', numbered(1))
  double.visibility.hideNext('tracebook.a', 5)
  await other.append('a', 0n, numbered(2, 1))
  const error = (await errorOf(log.append('a', 0n, anAppend(bodyOf(2_000, 1), '{}')))) as WrongRevision
  assert.is(error.actual, 2n)
  assert.is((await all(log.read('a'))).length, 3)
})

test('a conflict whose events never become readable is answered at the deadline, and nothing was stored', async ({
  open,
  double,
}) => {
  const [log, other] = [open({ deadlineMs: 200 }), open()]
  double.visibility.hideNext('tracebook.a', 1_000_000)
  await other.append('a', 'none', numbered(1))
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.is(double.store.stream('tracebook.a')!.length, 1)
})

test('a stream that was truncated, scavenged or deleted by hand still answers conflicts', async ({ open, double }) => {
  const log = open({ deadlineMs: 60_000 })
  const client = EventStoreDBClient.connectionString(double.url)
  await log.append('a', 'none', numbered(5))
  await log.truncate('a', 100n)
  assert.is(((await errorOf(log.append('a', 'none', numbered(1)))) as WrongRevision).actual, 4n)
  double.store.scavenge()
  assert.is(((await errorOf(log.append('a', 2n, numbered(1)))) as WrongRevision).actual, 4n)
  // As a deletion writes it.
  await client.setStreamMetadata('tracebook.a', { truncateBefore: 9_223_372_036_854_776_000 }, { credentials })
  assert.is(((await errorOf(log.append('a', 2n, numbered(1)))) as WrongRevision).actual, 4n)
  await client.dispose()
})

test('concurrent truncations of one stream take each other into account', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  await log.append('a', 'none', numbered(10))
  for (let before = 2n; before < 8n; before += 2n) {
    double.visibility.hideNext('$$tracebook.a', 3)
    await Promise.all([log.truncate('a', before), other.truncate('a', before + 1n)])
    assert.is((await all(log.read('a')))[0]!.revision, before + 1n)
  }
})

test.run()
