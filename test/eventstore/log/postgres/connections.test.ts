import * as assert from 'uvu/assert'
import { LogChanged, LogUnavailable } from '../../../../src/eventstore/log/log.ts'
import { aStream, all, bodies, errorOf, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import { backends, faultSuite, terminateAll, untilItAppends } from '../support/faults.ts'
import { freshDatabase } from '../../../support/database.ts'
import { until } from '../../../support/until.ts'

const test = faultSuite('connections of the Postgres log')

test('when its backends are killed repeatedly, every append is stored once and followers go on', async (scene) => {
  const [log, other] = [scene.open(), scene.open()]
  const prefix = aStream()
  const following = [log, other].map((each) => followPrefix(each, prefix, { after: 0n, count: 8 * 60 }))
  let writing = true
  const write = async (name: number) => {
    for (let revision = 0n; revision < 60n; revision++)
      await log.append(`${prefix}-${name}`, revision === 0n ? 'none' : revision - 1n, numbered(1, Number(revision)))
  }
  const end = async () => {
    for (let rounds = 0; writing && rounds < 10; rounds++) {
      const { rows } = await scene.sql.query<{ position: bigint }>(
        'select coalesce(max(last), 0) as position from log.appends',
      )
      await terminateAll(scene.sql)
      await until(async () => {
        const now = await scene.sql.query<{ position: bigint }>(
          'select coalesce(max(last), 0) as position from log.appends',
        )
        return !writing || now.rows[0]!.position > rows[0]!.position
      })
    }
  }
  const ending = end()
  await Promise.all(Array.from({ length: 8 }, (_, i) => write(i)))
  writing = false
  await ending
  const stored = await readPrefix(log, prefix)
  assert.is(stored.length, 8 * 60)
  for (const seen of await Promise.all(following)) assert.equal(seen.map(essence), stored.map(essence))
  for (let i = 0; i < 8; i++) assert.equal(bodies(await all(log.read(`${prefix}-${i}`))), bodies(numbered(60)))
})

test('reads and the head go on after their connections have been closed', async ({ open, sql }) => {
  const log = open()
  const { position } = await log.append('a', 'none', numbered(3))
  for (let i = 0; i < 3; i++) {
    assert.is(await log.head(), position)
    await terminateAll(sql)
    assert.is((await all(log.read('a'))).length, 3)
  }
})

test('a listener whose connection was closed comes back', async ({ open, sql }) => {
  open()
  await until(async () => (await backends(sql, 'listener')) === 1)
  await terminateAll(sql)
  await until(async () => (await backends(sql, 'listener')) === 1)
})

test('an append whose answer was lost is found again, and followers see its events once', async ({
  open,
  proxy,
  database,
}) => {
  const [log, direct] = [open(), open({ url: database.url })]
  await log.append('before', 'none', numbered(1))
  const following = followPrefix(log, '', { after: 0n, count: 4 })
  proxy.set('deaf')
  const appending = log.append('a', 'none', numbered(2))
  await followPrefix(direct, 'a', { after: 0n, count: 2 })
  proxy.set('pass')
  proxy.cut()
  assert.equal(await appending, { revision: 1n, position: 3n })
  await log.append('after', 'none', numbered(1))
  assert.equal((await following).map(essence), (await all(direct.readAll({ after: 0n }))).map(essence))
})

test('a connection that falls silent takes a part of the time that an append has, not all of it', async ({
  open,
  proxy,
}) => {
  const log = open()
  await log.append('a', 'none', numbered(1))
  proxy.forget()
  assert.is((await log.append('a', 0n, numbered(1, 1))).revision, 1n)
})

test('an append that may have been stored is never reported as refused', async ({ open, proxy, database }) => {
  const [log, direct] = [open({ deadlineMs: 500 }), open({ url: database.url })]
  await untilItAppends(log)
  proxy.set('deaf')
  const appending = errorOf(log.append('a', 'none', numbered(1)))
  await followPrefix(direct, 'a', { after: 0n, count: 1 })
  proxy.set('refuse')
  assert.is(((await appending) as LogUnavailable).stored, 'unknown')
})

test('a refused append is not stored later', async ({ open, sql }) => {
  const log = open({ deadlineMs: 2_000 })
  await untilItAppends(log)
  await sql.query(`begin; select pg_advisory_xact_lock(hashtext('tracebook log append'))`)
  const appends = [
    log.append('a', 'none', numbered(1)),
    log.append('refused by the server: \0', 'none', numbered(1)),
    log.append('b', 'none', numbered(1)),
  ]
  const [, , last] = await Promise.all(appends.map(errorOf))
  assert.is((last as LogUnavailable).stored, false, 'it has waited behind the search for the bad one')
  const after = untilItAppends(log)
  await sql.query('rollback')
  await after
  assert.equal(await all(log.read('b')), [])
})

test('a silent server is given up at the deadline, and used again later', async ({ open, proxy }) => {
  const log = open({ deadlineMs: 2_000 })
  await untilItAppends(log)
  await open().append('a', 'none', numbered(1))
  const following = followPrefix(log, 'a', { after: 0n, count: 2 })
  proxy.set('stall')
  const [sent, later] = [log.append('a', 0n, numbered(1)), log.append('a', 1n, numbered(1))].map(errorOf)
  assert.equal(
    [await sent, await later].map((error) => (error as LogUnavailable).stored),
    ['unknown', false],
  )
  proxy.cut()
  proxy.set('pass')
  await untilItAppends(log)
  await open().append('a-later', 'none', numbered(1))
  assert.equal(
    (await following).map(({ stream }) => stream),
    ['a', 'a-later'],
  )
})

test('after a failover nothing goes to the server before, even where its connections stay open', async (scene) => {
  const { open, proxy, sql } = scene
  const other = await freshDatabase()
  const [log, after] = [open(), open({ url: other.url })]
  try {
    await log.append('lost', 'none', numbered(1))
    await all(log.read('lost'))
    const changed = new Promise((resolve) => log.onChange(resolve))
    await until(async () => (await backends(sql, 'listener')) === 1)
    proxy.redirect(other.url)
    // More reads at once than there are connections: the next one is made, and finds the other server.
    await Promise.all([changed, ...Array.from({ length: 4 }, () => log.head().catch(() => {}))])
    const calls = [log.append('new', 'none', numbered(1)), ...Array.from({ length: 6 }, () => all(log.read('lost')))]
    for (const error of await Promise.all(calls.map(errorOf))) assert.instance(error, LogChanged)
    assert.equal(await all(after.read('new')), [])
    await log.close()
    for (const purpose of ['writer', 'listener'] as const) await until(async () => (await backends(sql, purpose)) === 0)
  } finally {
    await Promise.all([log.close(), after.close()])
    await other.drop()
  }
})

test('an unreachable server leads to a refusal at the deadline, with the reason', async ({ open, proxy }) => {
  const log = open({ deadlineMs: 2_000 })
  proxy.set('refuse')
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.instance(error.cause, Error)
  for (const failed of await Promise.all([log.head(), all(log.read('a')), log.truncate('a', 1n)].map(errorOf)))
    assert.instance(failed, LogUnavailable)
  proxy.set('pass')
  await untilItAppends(log)
  assert.equal(await all(log.read('a')), [])
})

test('appends wait for a server that comes back in time', async ({ open, proxy }) => {
  const log = open({ deadlineMs: 60_000 })
  proxy.set('refuse')
  const appending = Promise.all(['a', 'b', 'c'].map((stream) => log.append(stream, 'none', numbered(1))))
  await errorOf(all(log.read('a')))
  proxy.set('pass')
  assert.is((await appending).length, 3)
})

test.run()
