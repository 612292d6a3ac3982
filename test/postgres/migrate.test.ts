import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newClient } from '../../src/postgres/connect.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { freshDatabase } from '../support/database.ts'

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

test.run()
