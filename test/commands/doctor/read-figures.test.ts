import { statfsSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups, mainGroup, searchGroup } from '../../../projections/index.ts'
import { SOON_DAYS, limitsOf } from '../../../src/commands/doctor/limits.ts'
import { type ReadOptions, readFigures } from '../../../src/commands/doctor/read-figures.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { newReportClient, withConnection as withOpened } from '../../../src/eventstore/postgres/connect.ts'
import { readConfig } from '../../../src/server/config.ts'
import { freshDatabase, onServer, withConnection } from '../../support/database.ts'
import { runCommand } from '../../support/run-command.ts'
import { until } from '../../support/until.ts'
import { openEmptyWorld, signIn } from '../../support/world.ts'
import { documentsIn, runJson } from '../support/documents.ts'
import { newUser, run } from '../support/user.ts'

const test = suite('tracebook doctor')

const DAY = 86_400_000
const NOON = Date.UTC(2026, 4, 4, 12)

const message = (externalId: string) => ({ externalId, role: 'user', textContent: `hello ${externalId}` })

const headOf = async (url: string): Promise<number> =>
  Number((await onServer(url, 'select max(last) as head from log.appends')).rows[0]!['head'])

// A log of two moments: the first events are eight days and an hour older than the last ones.
let time = NOON
const { database, openNode } = await openEmptyWorld(test, { now: () => time, env: { SUMMARY_PROVIDER: 'none' } })
const { url } = database
const node = await openNode()
const ada = await signIn(node)
await ada.newTrace({}, [message('a'), message('b')])
const BEFORE = await headOf(url)
time = NOON + 8 * DAY + 3_600_000
await ada.newTrace({}, [message('c')])
const HEAD = await headOf(url)

const config = readConfig({ DATABASE_URL: url })

const read = (more: Partial<ReadOptions> = {}) => readFigures({ url, config, now: time, ...more })

test('the growth of a day and a week is counted in the log, and not known before it is as old', async () => {
  const growthAt = async (now: number) => (await read({ now })).growth
  assert.equal(await growthAt(NOON + 1_000), {})
  assert.equal(await growthAt(NOON + DAY + 1), { lastDay: HEAD - BEFORE }, 'with what has come since')
  assert.equal(await growthAt(time + 1), { lastDay: HEAD - BEFORE, lastWeek: HEAD - BEFORE })
  assert.equal(await growthAt(time + 2 * DAY), { lastDay: 0, lastWeek: HEAD - BEFORE })
  assert.equal(await growthAt(NOON + 7 * DAY - 1), { lastDay: HEAD - BEFORE })
  assert.is((await read()).events, HEAD)
})

test('each part of the database has its bytes, and rows as the server estimates them', async () => {
  await onServer(url, 'analyze log.appends')
  const { sizes } = await read()
  assert.equal(
    sizes.map(({ part }) => part),
    ['log', 'tree', ...groups.map(({ name }) => name), 'other', 'unused'],
  )
  const [log] = (
    await onServer(
      url,
      `select pg_total_relation_size('log.appends') as bytes, count(*)::int4 as rows from log.appends`,
    )
  ).rows
  const seen = sizes.find(({ part }) => part === 'log')!
  assert.is(seen.isEstimate, false)
  assert.ok(seen.bytes >= Number(log!['bytes']) && seen.rows >= Number(log!['rows']), JSON.stringify(seen))
  assert.is(sizes.find(({ part }) => part === 'unused')!.bytes, 0)
  assert.ok(sizes.every(({ part, bytes }) => part === 'unused' || bytes > 0))
})

/** Runs work while another transaction holds the strongest lock on a table. */
const whileLocked = <T>(table: string, work: () => Promise<T>): Promise<T> =>
  withConnection(url, async (client) => {
    await client.query(`begin; lock table ${table}`)
    return work().finally(() => client.query('rollback'))
  })

test('where a size waits for a lock, the sizes are those of the last vacuum, and say so', async () => {
  const schema = schemaOf(mainGroup)
  await onServer(url, `vacuum ${schema}.traces`)
  const { sizes } = await whileLocked(`${schema}.traces`, read)
  assert.ok(sizes.every(({ isEstimate }) => isEstimate))
  assert.ok(sizes.find(({ part }) => part === 'main')!.bytes > 0)
})

test('a log that is locked, as by a migration, is not waited for, which is said', async () => {
  const { how, err } = await whileLocked('log.appends', () => runCommand(['doctor'], { DATABASE_URL: url }))
  assert.is(how, 1)
  assert.match(err, 'PostgreSQL is too busy to be examined now, or its tables are being changed (canceling statement')
})

test('read models of another version, and of a rebuild, are counted by themselves', async () => {
  const old = schemaOf({ ...mainGroup, version: 1 })
  await onServer(url, `create schema ${old}; create table ${old}.rows (a) as select generate_series(1, 1000)`)
  const { sizes } = await read()
  assert.ok(sizes.find(({ part }) => part === 'unused')!.bytes > 30_000)
  await onServer(url, `drop schema ${old} cascade`)
})

test('the connections are those of the server, and of each process of the service', async () => {
  const one = await until(async () => {
    const { connections } = await read()
    return connections.processes === 1 ? connections : undefined
  })
  assert.ok(one.ours > 4 && one.ours <= one.open, JSON.stringify(one))
  assert.ok(one.free > 0)
  await openNode({ env: { ROLES: 'api' } })
  await until(async () => (await read()).connections.processes === 2)
})

test('the disk of DATA_DIR is looked at for the embedded database, with its reserve', async () => {
  const { DATABASE_URL: _without, ...embedded } = readConfig({ DATA_DIR: '/srv/data', DISK_RESERVE_MB: '100' })
  const asked: string[] = []
  const statfs = (folder: string) => {
    asked.push(folder)
    return { blocks: 1_000, bfree: 120, bavail: 100, bsize: 1024 * 1024 }
  }
  const figures = await read({ config: { ...embedded, DATABASE_URL: undefined }, statfs })
  const MB = 1024 * 1024
  assert.equal(figures.disk, { folder: '/srv/data', used: 880 * MB, free: 100 * MB, reserve: 100 * MB })
  assert.equal(asked, ['/srv/data'])
  const [disk] = limitsOf(figures)
  assert.equal([disk!.name, disk!.days], ['disk', 0])
  const real = await read({ config: { ...embedded, DATABASE_URL: undefined, DATA_DIR: '/' } })
  const { blocks, bsize } = statfsSync('/')
  assert.ok('used' in real.disk && real.disk.used > 0 && real.disk.used <= blocks * bsize)
})

test('a database that is reached by the network does not tell of its disk, which is no missing right', async () => {
  const { disk, missing } = await read()
  if ((await onServer(url, 'select inet_server_addr() is null as local')).rows[0]!['local']) return
  assert.match(JSON.stringify(disk), 'on another machine')
  assert.equal(missing, [])
})

test('with the log in EventStoreDB it says what is not seen, and asks no server of it', async () => {
  const elsewhere = readConfig({ DATABASE_URL: url, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' })
  const figures = await read({ config: elsewhere })
  for (const part of [figures.growth, figures.lags]) assert.match(JSON.stringify(part), 'EVENTSTORE_URL')
  const limits = limitsOf(figures)
  for (const name of ['segments', 'rebuild', 'lag'])
    assert.match(limits.find((limit) => limit.name === name)!.unknown!, 'EVENTSTORE_URL', name)
})

test('nothing is written, and no statement could', async () => {
  await withOpened(newReportClient(url, 'doctor', 'public'), async (client) => {
    await client.query('create table public.a ()').then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, 'read-only'),
    )
    await client.query('select pg_sleep(30)').then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, 'statement timeout'),
    )
  })
})

const environment = { DATABASE_URL: url }

type DoctorDocument = {
  readonly type: string
  readonly limits: readonly { readonly days?: number }[]
  readonly missingRights: readonly { readonly right: string }[]
}

test('prints what takes how much, what ends, and what helps', async () => {
  const { how, out, err } = await run(['doctor'], { ...environment, DATABASE_CONNECTIONS: '9999' })
  assert.equal([how, err], [3, ''])
  assert.match(out, /^what +size +rows \(about\)\nlog +\d+(\.\d)? [kM]B +\d+\naudit tree /)
  assert.match(out, /\nwhat ends +now +limit +ends\ndisk /)
  assert.match(out, /\nconnections +[\d,]+ +\d+ +now\n/)
  assert.match(out, /\nconnections: Raise max_connections of PostgreSQL, .* or lower DATABASE_CONNECTIONS /)
  assert.match(out, /events in the log, 0 in the last day, 0 in the last week/)
})

test('the document of --json is as its help says, and the exit code says whether something ends, or a right is missing', async () => {
  const user = newUser('/nowhere', url, (words, variables) => run(words, { ...variables, ...environment }))
  const { how, documents } = await runJson(user, 'doctor')
  const [{ type, limits, missingRights }] = documents as unknown as [DoctorDocument]
  const { rows } = await onServer(url, 'select inet_server_addr() is null as local')
  assert.equal([type, limits.length], ['doctor', 7])
  assert.equal(
    missingRights.map(({ right }) => right),
    rows[0]!['local'] ? ['pg_read_all_settings'] : [],
  )
  const ends = limits.some(({ days }) => days !== undefined && days <= SOON_DAYS)
  assert.is(how, ends ? 3 : missingRights.length)
})

test('a database of another version, or of none, is refused by name', async () => {
  const other = await freshDatabase()
  try {
    const ask = (words: string[] = []) => runCommand(['doctor', ...words], { DATABASE_URL: other.url })
    const schema = schemaOf(mainGroup)
    await onServer(other.url, `alter schema ${schema} rename to rm_1`)
    const { how, err } = await ask()
    assert.equal([how, err.includes(`The database has no read models ${schema}.`)], [1, true], err)
    await onServer(other.url, `insert into tracebook.kysely_migration values ('9999_later', 'now')`)
    const document = documentsIn((await ask(['--json'])).out)[0]!
    assert.equal([document.type, document['exitCode']], ['error', 1])
    assert.match(document['message'] as string, 'does not know its migration 9999_later')
    await onServer(other.url, 'drop schema tracebook cascade')
    assert.match((await ask()).err, 'lacks tables of this version')
  } finally {
    await other.drop()
  }
})

test('read models that are behind say by how many events, and for how long', async () => {
  const group = schemaOf(searchGroup)
  const areAll = async (events: number) => {
    const { lags } = await read()
    return !('unseen' in lags) && lags.length === groups.length && lags.every((lag) => lag.events === events)
  }
  await until(() => areAll(0))
  // As if the last events had not been applied.
  await onServer(url, `update ${group}.checkpoint set position = ${BEFORE} where position > ${BEFORE}`)
  const { lags } = await read({ now: time + 7_000 })
  assert.equal(!('unseen' in lags) && lags.find((lag) => lag.group === 'search'), {
    group: 'search',
    events: HEAD - BEFORE,
    ms: 7_000,
    isStopped: false,
  })
})

test.run()
