import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups } from '../../../projections/index.ts'
import { ensureSchema, finishSchema } from '../../../src/eventstore/engine/schema.ts'
import { newClient, withConnection } from '../../../src/eventstore/postgres/connect.ts'
import { migrate } from '../../../src/eventstore/postgres/migrate.ts'
import { onServer } from '../../support/database.ts'
import { startPlainServer } from '../../support/plain-server.ts'
import { runCommand } from '../../support/run-command.ts'
import { documentsIn } from '../support/documents.ts'

const test = suite('tracebook doctor on a server of an operator')

const server = await startPlainServer()
test.after(() => server.stop())

const url = await server.newDatabase('tracebook')
await migrate(url)
await withConnection(newClient(url, 'test'), async (client) => {
  for (const group of groups) {
    await ensureSchema(client, group)
    await finishSchema(client, group)
  }
})

/** The URL of the same database for another role. */
const urlOf = (role: string): string => {
  const other = new URL(url)
  other.username = role
  return other.href
}

const asAdmin = (statement: string) => onServer(urlOf('postgres'), statement)

type Limit = { readonly name: string; readonly now?: number; readonly limit?: number; readonly days?: number }

/** The exit code, and the limits by name. */
const askJson = async (role = 'tracebook') => {
  const { how, out, err } = await runCommand(['doctor', '--json'], { DATABASE_URL: urlOf(role) })
  assert.is(err, '')
  const [document] = documentsIn(out) as unknown as [{ limits: readonly Limit[]; missingRights: readonly object[] }]
  const limit = (name: string) => document.limits.find((one) => one.name === name)!
  return { how, limit, missing: document.missingRights }
}

test('a role that may not know where the files are is told which right it lacks, and sees the disk with it', async () => {
  const { how, out } = await runCommand(['doctor'], { DATABASE_URL: url })
  assert.is(how, 1)
  assert.match(out, /\ndisk +- +- +not known\n/)
  assert.match(out, 'lacks the right pg_read_all_settings')
  const [, grant] = /As a superuser, run: (grant .*)\n/.exec(out)!
  await asAdmin(grant!)
  const seen = await askJson()
  assert.equal([seen.how, seen.missing], [0, []])
  assert.ok(seen.limit('disk').now! > 0 && seen.limit('disk').limit! > seen.limit('disk').now!)
})

test('a role that may not read the service is told which right it lacks, and only that', async () => {
  await asAdmin('create role watcher login')
  const ask = () => runCommand(['doctor'], { DATABASE_URL: urlOf('watcher') })
  const { how, out, err } = await ask()
  assert.equal([how, out], [1, ''])
  assert.match(err, 'The role watcher lacks the right pg_read_all_data (permission denied')
  const [, grant] = /As a superuser, run: (grant .*?)\. /.exec(err)!
  await asAdmin(grant!)
  await asAdmin('grant pg_read_all_settings to watcher')
  assert.is((await ask()).how, 0)
})

test('a role that may read the log, but no read models, is told which right it lacks', async () => {
  await asAdmin('create role partly login')
  for (const schema of ['log', 'tracebook']) {
    await asAdmin(`grant usage on schema ${schema} to partly`)
    await asAdmin(`grant select on all tables in schema ${schema} to partly`)
  }
  const { how, err } = await runCommand(['doctor'], { DATABASE_URL: urlOf('partly') })
  assert.is(how, 1)
  assert.match(err, 'The role partly lacks the right pg_read_all_data (permission denied')
})

test('where no connection is left, that is said, and what helps', async () => {
  await asAdmin('alter role tracebook connection limit 0')
  const { how, err } = await runCommand(['doctor'], { DATABASE_URL: url })
  await asAdmin('alter role tracebook connection limit -1')
  assert.is(how, 1)
  assert.match(err, 'PostgreSQL takes no more connections (too many connections for role "tracebook")')
  assert.match(err, 'Raise max_connections of PostgreSQL, or what the role or the database may have of them')
})

test('a slot that no standby has used yet keeps no WAL, so that none ends', async () => {
  await asAdmin(`select pg_create_physical_replication_slot('unused')`)
  const { limit } = await askJson()
  await asAdmin(`select pg_drop_replication_slot('unused')`)
  assert.equal([limit('wal').now, limit('wal').limit], [0, undefined])
})

test('WAL that is kept for a standby that is away is seen, and has ended where the server has removed some', async () => {
  await asAdmin(`select pg_create_physical_replication_slot('away', true)`)
  await asAdmin('create table public.filler as select generate_series(1, 10000)')
  const before = await askJson()
  const { now, days } = before.limit('wal')
  assert.ok(now! > 100_000, `${now}`)
  assert.equal([days, before.how], [undefined, 0], 'what is written in a day is not known yet')
  await asAdmin(`alter system set max_slot_wal_keep_size = '1MB'`)
  await asAdmin('select pg_reload_conf()')
  for (let i = 0; i < 3; i++) await asAdmin('insert into public.filler select 1; select pg_switch_wal()')
  await asAdmin('checkpoint')
  const after = await askJson()
  assert.equal([after.limit('wal').days, after.how], [0, 3])
  assert.match((await runCommand(['doctor'], { DATABASE_URL: url })).out, "pg_drop_replication_slot('away')")
})

test.run()
