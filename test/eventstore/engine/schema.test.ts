import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import pg from 'pg'
import { openEmptyWorld } from '../../support/world.ts'

const test = suite('schemas of read models')

test('PostgreSQL does not expect that tables of new read models stay empty', async () => {
  const { database } = await openEmptyWorld(test)
  const client = new pg.Client(database.url)
  await client.connect()
  const { rows } = await client.query(`
    select relname from pg_class where relname in ('messages', 'traces', 'copied_answers') and relkind = 'r' and reltuples = 0`)
  await client.end()
  assert.equal(rows, [])
})

test.run()
