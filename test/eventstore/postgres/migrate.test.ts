import { type Kysely, sql } from 'kysely'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { OtherVersion, migrate, ownMigrations } from '../../../src/eventstore/postgres/migrate.ts'
import { freshDatabase, onServer } from '../../support/database.ts'
import { errorOf } from '../log/support/events.ts'

const test = suite('postgres/migrate')

/** Makes and drops tables, as another process does that starts or tidies, until it is told to stop. */
const churn = async (url: string, stop: AbortSignal): Promise<number> => {
  const client = newClient(url, 'churn')
  await client.connect()
  const tables = Array.from({ length: 50 }, (_, i) => `create table elsewhere.t${i} (n int)`).join(';')
  let rounds = 0
  for (; !stop.aborted; rounds++) {
    await client.query(`create schema elsewhere; ${tables}`)
    await client.query('drop schema elsewhere cascade')
  }
  await client.end()
  return rounds
}

test('tables of others may vanish while a migration looks for its own', async () => {
  const database = await freshDatabase()
  const over = new AbortController()
  const rounds = churn(database.url, over.signal)
  try {
    for (let start = 0; start < 40; start++) await migrate(database.url)
  } finally {
    over.abort()
    assert.ok((await rounds) > 0)
    await database.drop()
  }
})

test('the next version adds a migration, which keeps what is stored; the version before it then refuses the database', async () => {
  const database = await freshDatabase()
  const next = {
    ...(await ownMigrations()),
    '0002_notes': {
      up: async (db: Kysely<unknown>) => {
        await sql`alter table tracebook.session_uses add column note text not null default ''`.execute(db)
      },
    },
  }
  const id = '00000000-0000-4000-8000-000000000001'
  try {
    await onServer(database.url, `insert into tracebook.session_uses values ('${id}', 5)`)
    await migrate(database.url, next)
    await migrate(database.url, next)
    assert.equal((await onServer(database.url, 'select * from tracebook.session_uses')).rows, [
      { session_id: id, last_used_at: '5', note: '' },
    ])
    assert.match(String(await errorOf(migrate(database.url))), 'OtherVersion')
  } finally {
    await database.drop()
  }
})

test('a database that another version has made is refused by name, and nothing in it is changed', async () => {
  const database = await freshDatabase()
  const names = async () =>
    (await onServer(database.url, 'select name from tracebook.kysely_migration order by name')).rows
  try {
    await onServer(database.url, "insert into tracebook.kysely_migration values ('0001_log', '2026-01-01')")
    const before = await names()
    const refused = await errorOf(migrate(database.url))
    assert.instance(refused, OtherVersion)
    assert.match((refused as Error).message, /does not know its migration 0001_log.*audit export.*audit import/)
    assert.equal(await names(), before)
  } finally {
    await database.drop()
  }
})

test.run()
