import * as assert from 'uvu/assert'
import { LogUnavailable } from '../../../../src/eventstore/log/log.ts'
import type { Metadata } from '../../../../src/eventstore/log/metadata.ts'
import { aStream, all, anAppend, bodies, errorOf, followPrefix, numbered } from '../support/events.ts'
import { backends, faultSuite, untilItAppends } from '../support/faults.ts'
import { until } from '../../../support/until.ts'

const test = faultSuite('writer of the Postgres log')

const MiB = 1024 * 1024

test('an append that Postgres refuses fails alone, wherever it is in its batch', async ({ open }) => {
  const log = open()
  const appends = Array.from({ length: 60 }, (_, i) =>
    i % 20 === 5
      ? { stream: `s-${i}\0`, events: numbered(2) }
      : {
          stream: `s-${i}`,
          events: i % 20 === 7 ? anAppend('{}').map((one) => ({ ...one, id: 'no UUID' })) : numbered(2),
        },
  )
  const outcomes = await Promise.allSettled(appends.map(({ stream, events }) => log.append(stream, 'none', events)))
  for (const [i, outcome] of outcomes.entries())
    assert.is(outcome.status, [5, 7].includes(i % 20) ? 'rejected' : 'fulfilled', `${i}`)
  assert.is((await all(log.readAll({ after: 0n }))).length, 54 * 2)
})

test('a small append does not overtake a large one of its stream', async ({ open }) => {
  const log = open()
  const large = (n: number) => anAppend(`{"n":${n},"text":"${'x'.repeat(5 * MiB)}"}`)
  await Promise.all([
    log.append('a', 'none', large(0)),
    log.append('b', 'none', large(0)),
    log.append('b', 0n, numbered(1)),
    log.append('b', 1n, large(2)),
    log.append('b', 2n, numbered(1)),
  ])
  assert.is((await all(log.read('b'))).length, 4)
})

test('a log that would not be durable accepts no append, and names the wrong setting', async ({
  open,
  sql,
  database,
}) => {
  const name = new URL(database.url).pathname.slice(1)
  const log = open({ deadlineMs: 60_000 })
  await sql.query(`alter database "${name}" set synchronous_commit = off`)
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.match(error.message, 'synchronous_commit')
  await sql.query(`alter database "${name}" reset synchronous_commit`)
  await log.append('a', 'none', numbered(1))
})

test('a missing database, or user, is reported without waiting for the deadline', async ({ open, sql, proxy }) => {
  const url = new URL(proxy.url)
  url.username = 'nobody_of_that_name'
  const stranger = open({ url: url.href, deadlineMs: 60_000 })
  assert.instance(await errorOf(stranger.append('a', 'none', numbered(1))), LogUnavailable)
  await sql.query('drop schema log cascade')
  assert.instance(await errorOf(open({ deadlineMs: 60_000 }).append('a', 'none', numbered(1))), LogUnavailable)
})

test('a full disk leads to a refusal that says that nothing was stored', async ({ open, sql }) => {
  await sql.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'the disk is full' using errcode = '53100'; end $$`)
  await sql.query('create trigger refuse before insert on log.appends execute function refuse()')
  const log = open({ deadlineMs: 60_000 })
  const errors = await Promise.all(['a', 'b'].map((stream) => errorOf(log.append(stream, 'none', numbered(1)))))
  assert.equal(
    errors.map((error) => (error as LogUnavailable).stored),
    [false, false],
  )
  await sql.query('drop trigger refuse on log.appends')
  await log.append('a', 'none', numbered(1))
})

test('appends that wait for a lock leave no queue of backends behind', async ({ open, sql }) => {
  const log = open({ deadlineMs: 150 })
  await sql.query(`begin; select pg_advisory_xact_lock(hashtext('tracebook log append'))`)
  const errors: unknown[] = []
  const wave = async (name: number) => {
    for (let i = 0; i < 4; i++) errors.push(await errorOf(log.append(`s-${name}-${i}`, 'none', numbered(1))))
  }
  await Promise.all(Array.from({ length: 8 }, (_, i) => wave(i)))
  for (const error of errors) assert.instance(error, LogUnavailable)
  await until(async () => (await backends(sql, 'writer')) <= 1)
  await sql.query('rollback')
  await untilItAppends(log)
})

test('close ends pending calls, refuses new ones, and can be repeated', async ({ open }) => {
  const log = open()
  const waiting = Array.from({ length: 50 }, (_, i) =>
    log.append(i < 25 ? 'a' : `s-${i}`, i === 0 || i >= 25 ? 'none' : BigInt(i - 1), numbered(1)),
  )
  let settled = 0
  for (const append of waiting) void append.then(() => (settled += 1))
  const closing = log.close()
  assert.is(((await errorOf(log.append('b', 'none', numbered(1)))) as LogUnavailable).stored, false)
  await closing
  assert.is(settled, 50)
  await log.close()
})

test('close does not wait for a silent server', async ({ open, proxy }) => {
  const log = open({ deadlineMs: 200 })
  await untilItAppends(log)
  proxy.set('stall')
  const waiting = errorOf(log.append('a', 'none', numbered(1)))
  await log.close()
  assert.instance(await waiting, LogUnavailable)
})

test('followers in the same process get the very objects that were appended', async ({ open }) => {
  const log = open()
  const { metadata } = numbered(1)[0]!
  const decoded = { data: { n: 1 }, metadata: JSON.parse(metadata) as Metadata }
  await until(async () => {
    const after = await log.head()
    const following = followPrefix(log, '', { after, count: 1 })
    await log.append(aStream(), 'none', [{ ...numbered(1)[0]!, decoded }])
    return (await following)[0]!.decoded === decoded
  })
})

test('truncations of another process soon apply to cached events', async ({ open }) => {
  const [log, other] = [open(), open()]
  await log.append('a', 'none', numbered(5))
  await log.append('b', 'none', anAppend('"end"'))
  await other.truncate('a', 4n)
  await until(async () => bodies(await followPrefix(log, '', { after: 0n, count: 2 })).join() === '{"n":4},"end"')
})

test.run()
