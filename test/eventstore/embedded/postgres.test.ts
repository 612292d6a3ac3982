import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { allOf, answers, inDataDir, inFolder, query, recordingLog } from './support.ts'
import { until } from '../../support/until.ts'

const test = suite('embedded postgres')
const { log } = recordingLog()

test('starts on an empty folder, keeps its data over a second start, and leaves no process', () =>
  inFolder(async (dataDir) => {
    const first = await startPostgres({ dataDir, log })
    await query(first.url, 'create table kept as select 1 as one')
    await first.stop()
    assert.equal(await allOf(dataDir), [])
    const second = await startPostgres({ dataDir, log })
    assert.equal(await query(second.url, 'select * from kept'), [{ one: 1 }])
    assert.is(second.url, first.url)
    await second.stop('immediate')
    assert.equal(await allOf(dataDir), [])
    assert.is(await answers(second.url), false)
  }))

test('has the settings that the data and the machine need', () =>
  inDataDir(async (dataDir) => {
    const postgres = await startPostgres({ dataDir, log })
    const settings = await query(
      postgres.url,
      `select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit',
        'data_checksums', 'listen_addresses', 'server_encoding', 'max_wal_size', 'TimeZone') order by name`,
    )
    const [database] = await query(
      postgres.url,
      `select datlocprovider, datlocale, rolsuper, current_user as me from pg_database join pg_roles on rolname = current_user
        where datname = current_database()`,
    )
    await postgres.stop()
    assert.equal(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
      TimeZone: 'UTC',
      data_checksums: 'on',
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '',
      max_wal_size: '2048',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
    })
    assert.equal(database, { datlocprovider: 'b', datlocale: 'C.UTF-8', rolsuper: false, me: 'tracebook' })
  }))

test('accepts neither other roles nor other users of the machine', () =>
  inDataDir(async (dataDir) => {
    const postgres = await startPostgres({ dataDir, log })
    const asSuperuser = new URL(postgres.url)
    asSuperuser.username = 'postgres'
    const refusal = await query(asSuperuser.href, 'select 1').then(String, String)
    const modes = await Promise.all(['postgres', 'postgres/.s.PGSQL.5432'].map((name) => stat(join(dataDir, name))))
    await postgres.stop()
    assert.match(refusal, 'no pg_hba.conf entry')
    for (const { mode } of modes) assert.is(mode & 0o077, 0)
  }))

test('writes no user content to its log', () =>
  inDataDir(async (dataDir) => {
    const postgres = await startPostgres({ dataDir, log })
    await query(postgres.url, `select 'secret'::uuid`).catch(() => {})
    await query(postgres.url, `do $$ begin raise warning 'secret'; end $$`)
    const sleeper = query(postgres.url, `select 'secret', pg_sleep(600)`).catch(() => {})
    const find = `select pid from pg_stat_activity where query like '%''secret'', pg_sleep%' and pid <> pg_backend_pid()`
    await until(async () => (await query(postgres.url, find)).length === 1)
    const [{ pid }] = await query(postgres.url, find)
    process.kill(pid, 'SIGKILL')
    await sleeper
    const written = () => readFile(join(dataDir, 'postgres.log'), 'utf8')
    await until(async () => (await written()).includes('was terminated by signal 9'))
    await until(() => answers(postgres.url))
    await postgres.stop()
    assert.not.match(await written(), 'secret')
  }))

test('works in a folder whose path is too long for a socket, and leaves no temp folder', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, 'd'.repeat(120))
    await mkdir(dataDir)
    const postgres = await startPostgres({ dataDir, log })
    const socketDir = new URL(postgres.url).searchParams.get('host')!
    assert.not.ok(socketDir.startsWith(folder))
    assert.is((await stat(socketDir)).mode & 0o077, 0)
    assert.ok(await answers(postgres.url))
    await postgres.stop()
    assert.is(await stat(socketDir).catch(() => 'gone'), 'gone')
  }))

test('accepts any folder name', () =>
  inFolder(async (folder) => {
    const dataDir = join(folder, `a "b", 'c' %20 ü`)
    await mkdir(dataDir)
    const postgres = await startPostgres({ dataDir, log })
    const answered = await answers(postgres.url)
    await postgres.stop()
    assert.ok(answered)
  }))

test('refuses a cluster of another version, and a folder without a cluster', () =>
  inFolder(async (dataDir) => {
    await mkdir(join(dataDir, 'postgres'))
    const refusal = () => startPostgres({ dataDir, log }).then(String, String)
    assert.match(await refusal(), 'is not a PostgreSQL cluster')
    await writeFile(join(dataDir, 'postgres/PG_VERSION'), '12\n')
    assert.match(await refusal(), /created by PostgreSQL 12, which this version .18. cannot read/)
  }))

test('says why the server did not start, and starts when that is fixed', () =>
  inDataDir(async (dataDir) => {
    await (await startPostgres({ dataDir, log })).stop()
    const file = join(dataDir, 'postgres/postgresql.conf')
    const good = await readFile(file)
    await writeFile(file, 'no_such_setting = 1\n')
    assert.match(await startPostgres({ dataDir, log }).then(String, String), 'no_such_setting')
    await writeFile(file, good)
    await (await startPostgres({ dataDir, log })).stop()
  }))

test('removes what an interrupted initdb left', () =>
  inFolder(async (dataDir) => {
    await mkdir(join(dataDir, 'postgres.new-abc/base'), { recursive: true })
    await (await startPostgres({ dataDir, log })).stop()
    const names = (await readdir(dataDir)).filter((name) => name !== 'postgres.password') // where root runs it
    assert.equal(names.sort(), ['postgres', 'postgres.hba', 'postgres.log'])
  }))

test('accepts file modes that a copy has loosened', () =>
  inDataDir(async (dataDir) => {
    await (await startPostgres({ dataDir, log })).stop()
    await chmod(join(dataDir, 'postgres'), 0o755)
    await rm(join(dataDir, 'postgres.log'))
    await (await startPostgres({ dataDir, log })).stop()
  }))

test.run()
