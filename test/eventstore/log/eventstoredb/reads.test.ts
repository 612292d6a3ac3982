import { EventStoreDBClient } from '@eventstore/db-client'
import * as assert from 'uvu/assert'
import { LogUnavailable } from '../../../../src/eventstore/log/log.ts'
import { failure } from '../../../support/eventstoredb/faults.ts'
import { all, anAppend, bodies, errorOf, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { bodyOf } from '../support/segments.ts'
import { until } from '../../../support/until.ts'

const test = eventStoreSuite('reads of EventStoreDB')

const MiB = 1024 * 1024

test('a missing stream, and positions outside the log, are read as empty', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(2))
  const before = double.faults.count('read')
  assert.equal(await all(log.read('a', { limit: 0 })), [])
  assert.equal(await all(log.readAll({ after: 0n, limit: 0 })), [])
  assert.equal(await all(log.read('a', { backwards: true, from: -1n })), [])
  assert.is(double.faults.count('read'), before, 'a count of 0 would never end')
  assert.equal(await all(log.read('missing')), [])
  for (const from of [2n, 2n ** 63n - 1n, 2n ** 64n - 1n, 2n ** 70n]) {
    assert.equal(await all(log.read('a', { from })), [])
    assert.is((await all(log.read('a', { from, backwards: true }))).length, 2)
  }
})

test('abandoned reads occupy no stream of the connection', async ({ open, double }) => {
  const log = open()
  double.faults.stall('read')
  for (let i = 0; i < 110; i++) {
    const stop = new AbortController()
    const following = log.follow({ after: 0n, signal: stop.signal })[Symbol.asyncIterator]().next()
    await until(() => double.openReads() === 1)
    stop.abort()
    await following
    await until(() => double.openReads() === 0)
  }
})

test('pages that end at their byte limit occupy no stream', async ({ open, double }) => {
  const log = open()
  for (let revision = 0; revision < 12; revision++)
    await log.append('a', revision === 0 ? 'none' : BigInt(revision - 1), anAppend(bodyOf(MiB - 5_000, revision)))
  assert.is((await all(log.read('a'))).length, 12)
  assert.is((await all(log.readAll({ after: 0n }))).length, 12)
  await until(() => double.openReads() === 0)
})

test('a silent server is given up at the deadline', async ({ open, double }) => {
  const log = open({ deadlineMs: 150 })
  double.faults.stall('read')
  const errors = await Promise.all([log.head(), all(log.read('a')), all(log.readAll({ after: 0n }))].map(errorOf))
  for (const error of errors) assert.instance(error, LogUnavailable)
})

test('reads continue after failures of every kind', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(300))
  const failures = [
    failure(14, 'Connection dropped'),
    failure(13, 'Received RST_STREAM with code 0'),
    failure(2, 'odd'),
  ]
  for (const each of failures) double.faults.failNext('read', each)
  assert.is((await all(log.read('a'))).length, 300)
  let seen = 0
  for await (const { revision } of log.read('a')) {
    if (revision === 20n || revision === 70n) await double.reset()
    seen += 1
  }
  assert.is(seen, 300)
})

test('an error that arrives after the end of a read affects nothing else', async ({ open, double }) => {
  const log = open({ deadlineMs: 500 })
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('uncaughtException', note).on('unhandledRejection', note)
  double.faults.stall('read')
  await errorOf(all(log.read('a')))
  await double.reset()
  double.faults.resume()
  await log.append('a', 'none', numbered(1))
  assert.is((await all(log.read('a'))).length, 1)
  process.off('uncaughtException', note).off('unhandledRejection', note)
  assert.equal(unhandled, [])
})

test('a cluster that is unreachable during failing calls does not end the process', async ({ open, double }) => {
  const url = double.url.replace('esdb:', 'esdb+discover:')
  const log = open({ url: `${url}&maxDiscoverAttempts=2&discoveryInterval=20`, deadlineMs: 2_000 })
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('uncaughtException', note).on('unhandledRejection', note)
  await log.append('a', 'none', numbered(1))
  double.faults.stall('append')
  const appends = Array.from({ length: 20 }, (_, i) => log.append(`a-${i}`, 'none', numbered(1)))
  await until(() => double.appends.open === 20)
  await double.stop()
  await errorOf(open({ url, deadlineMs: 100 }).head())
  double.faults.resume()
  await double.start()
  await Promise.all(appends)
  process.off('uncaughtException', note).off('unhandledRejection', note)
  assert.equal(unhandled, [])
})

test('a page after a scavenge misses nothing, even if its position is gone', async ({ open, double }) => {
  const log = open()
  for (let i = 0; i < 4; i++) await log.append('a', i === 0 ? 'none' : BigInt(i - 1), numbered(1, i))
  const events = await all(log.readAll({ after: 0n }))
  await log.truncate('a', 2n)
  double.store.scavenge()
  for (const { position } of events.slice(0, 2)) {
    assert.equal(bodies(await readPrefix(log, 'a', position)), ['{"n":2}', '{"n":3}'])
    assert.equal(bodies(await followPrefix(log, 'a', { after: position, count: 2 })), ['{"n":2}', '{"n":3}'])
  }
  assert.equal(bodies(await readPrefix(log, 'a', events[2]!.position)), ['{"n":3}'])
})

test('truncated events are hidden even if their truncation is far behind', async ({ open }) => {
  const [log, other] = [open(), open()]
  await log.append('a', 'none', numbered(10))
  for (let i = 0; i < 6; i++) await log.append(`b-${i}`, 'none', numbered(250))
  await log.truncate('a', 8n)
  for (const each of [log, other]) {
    assert.equal(bodies(await readPrefix(each, 'a')), ['{"n":8}', '{"n":9}'])
    assert.equal(bodies(await followPrefix(each, 'a', { after: 0n, count: 2 })), ['{"n":8}', '{"n":9}'])
  }
})

test('a follower some thousand events behind reaches the end without querying each stream', async ({
  open,
  double,
}) => {
  const [log, other] = [open(), open()]
  for (let i = 0; i < 15; i++) await other.append(`a-${i}`, 'none', numbered(200))
  const before = double.faults.count('read')
  assert.is((await followPrefix(log, 'a', { after: 0n, count: 3_000 })).length, 3_000)
  assert.ok(double.faults.count('read') - before <= 2)
})

test('a truncation keeps the other metadata, and is not confused by it', async ({ open, double }) => {
  const [log, other] = [open(), open()]
  const client = EventStoreDBClient.connectionString(double.url)
  const credentials = { username: 'a', password: 'b' }
  await log.append('a', 'none', numbered(10))
  await client.setStreamMetadata('tracebook.a', { maxAge: 86_400, note: 'theirs' }, { credentials })
  await log.truncate('a', 3n)
  await client.setStreamMetadata('tracebook.a', { maxAge: 86_400, note: 'new', truncateBefore: 4 }, { credentials })
  await Promise.all([log.truncate('a', 5n), other.truncate('a', 6n), log.truncate('a', 2n)])
  const { metadata } = await client.getStreamMetadata('tracebook.a')
  assert.equal(metadata, { maxAge: 86_400, note: 'new', truncateBefore: 6 })
  assert.is((await all(other.readAll({ after: 0n }))).length, 4)
  await client.dispose()
})

test('a truncation beyond the end keeps the last event, and later ones stay visible', async ({ open }) => {
  const log = open()
  await log.append('a', 'none', numbered(3))
  await log.truncate('a', 100n)
  await log.append('a', 2n, numbered(2, 3))
  assert.equal(bodies(await all(log.read('a'))), ['{"n":2}', '{"n":3}', '{"n":4}'])
})

test('other streams are ignored, and `through` passes them', async ({ open }) => {
  const [log, foreign] = [open(), open({ prefix: 'other.' })]
  await log.append('a', 'none', numbered(1))
  await foreign.append('a', 'none', numbered(200))
  const { position } = await foreign.append('b', 'none', numbered(1))
  assert.equal(bodies(await all(log.readAll({ after: 0n }))), ['{"n":0}'])
  assert.is((await all(foreign.read('a'))).length, 200)
  const stop = new AbortController()
  for await (const { events, through } of log.follow({ after: 0n, signal: stop.signal })) {
    assert.ok(events.every(({ stream }) => stream === 'a'))
    if (through >= position) break
  }
  stop.abort()
  assert.is(await log.head(), position)
})

test('a log whose prefix goes on after that of another is no part of it', async ({ open, double }) => {
  const [log, inner] = [open(), open({ prefix: 'tracebook.staging.' })]
  await log.append('a', 'none', numbered(1))
  const theirs = numbered(3, 10)
  const { position } = await inner.append('a', 'none', theirs)
  await inner.truncate('a', 1n)
  double.store.writeForeign(2_000)
  await log.append('a', 0n, numbered(1, 1))
  assert.equal(bodies(await all(log.readAll({ after: 0n }))), ['{"n":0}', '{"n":1}'])
  assert.equal(bodies(await readPrefix(log, '')), ['{"n":0}', '{"n":1}'])
  assert.equal(bodies(await followPrefix(log, '', { after: 0n, count: 2 })), ['{"n":0}', '{"n":1}'])
  assert.equal(bodies(await all(inner.readAll({ after: 0n }))), ['{"n":11}', '{"n":12}'])
  assert.is(await inner.holds(position, theirs[2]!.id), true)
  assert.is(await log.holds(position, theirs[2]!.id), false, 'nor does it hold their events')
  assert.instance(await errorOf(log.append('staging.a', 'none', numbered(1))), TypeError)
})

test('a log holds no event of others, by whatever position and id', async ({ open, double }) => {
  const [log, other] = [open(), open({ prefix: 'other.' })]
  const theirs = numbered(1)
  const { position } = await other.append('a', 'none', theirs)
  assert.is(await log.holds(position, theirs[0]!.id), false)
  double.store.writeForeign(1)
  const foreign = double.store.all().at(-1)!
  assert.is(await log.holds(foreign.position, foreign.id), false)
  await log.append('a', 'none', numbered(3))
  await log.truncate('a', 2n, { position, id: theirs[0]!.id })
  assert.is((await all(log.read('a'))).length, 3, 'their event is no reason to erase')
})

test('metadata comes back unchanged, including numbers and blanks', async ({ open }) => {
  const log = open()
  const [event] = anAppend('{}')
  const metadata = event!.metadata.replace('{', String.raw`{ "n" : 12345678901234567890.10 , "\u0061":"\ud800", `)
  await log.append('a', 'none', [{ ...event!, metadata }])
  assert.is((await all(log.read('a')))[0]!.metadata, metadata)
})

test.run()
