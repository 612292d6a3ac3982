import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer, withConnection } from '../support/database.ts'
import { until } from '../support/until.ts'
import { withDatabase } from './measure.ts'

const test = suite('databases of the bench')

/** Only the role of an autovacuum may end it; this one takes a few milliseconds for each page. */
const vacuumedSlowly = `
  create table slow (a text) with (
    autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 5, autovacuum_vacuum_cost_limit = 1);
  insert into slow select repeat('x', 2000) from generate_series(1, 100);
  delete from slow`

test('one that is being vacuumed is removed as well', async () => {
  const server = process.env.TEST_POSTGRES_URL!
  let name = ''
  await withDatabase(server, async (url) => {
    name = new URL(url).pathname.slice(1)
    await onServer(url, vacuumedSlowly)
    await withConnection(server, (client) => {
      const working =
        "select from pg_stat_activity where datname = $1 and backend_type is distinct from 'client backend'"
      return until(async () => (await client.query(working, [name])).rows.length > 0)
    })
  })
  assert.equal((await onServer(server, 'select from pg_database where datname = $1', [name])).rows, [])
})

test.run()
