import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { ensureSchema } from '../../../src/eventstore/engine/schema.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { freshDatabase, onServer } from '../../support/database.ts'

const test = suite('tables that are rewritten or erased from')

/** How many dead rows a table of so many rows gathers before it is vacuumed; its long values are a table of their own. */
const options = `
  select c.relnamespace::regnamespace || '.' || coalesce(t.relname, c.relname) || case when t.oid is null then '' else ' long values' end as name,
    (select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_scale_factor') as factor,
    (select option_value from pg_options_to_table(c.reloptions) where option_name = 'autovacuum_vacuum_threshold') as least
  from pg_class c left join pg_class t on t.reltoastrelid = c.oid
  where c.reloptions::text like '%autovacuum%'`

test('are vacuumed long before a fifth of their rows are dead', async () => {
  const database = await freshDatabase({ readModels: false })
  const client = newClient(database.url, 'test')
  await client.connect()
  await ensureSchema(client, mainGroup, 'rm_test')
  await client.end()
  const { rows } = await onServer(database.url, options)
  const dead = Object.fromEntries(rows.map(({ name, factor, least }) => [name, Number(factor) * 1e6 + Number(least)]))
  assert.equal(dead, {
    'log.appends': 1_000,
    'pg_toast.appends long values': 1_000,
    'tracebook.session_uses': 20_500,
    'tracebook.rate_limits': 50_200,
    'tracebook.summaries': 21_000,
    'tracebook.erasures': 100,
    'tracebook.processes': 200,
    'rm_test.messages': 15_000,
    'pg_toast.messages long values': 15_000,
    'rm_test.message_blocks': 15_000,
    'pg_toast.message_blocks long values': 15_000,
    'rm_test.message_parts': 15_000,
    'pg_toast.message_parts long values': 15_000,
    'rm_test.traces': 21_000,
    'rm_test.feed': 6_000,
    'rm_test.counts': 21_000,
    'rm_test.checkpoint': 1_000,
    'rm_test.sizes': 21_000,
    'rm_test.usage': 21_000,
    'rm_test.usage_tools': 21_000,
    'rm_test.usage_days': 21_000,
    'rm_test.copied_answers': 15_000,
    'pg_toast.copied_answers long values': 15_000,
    'rm_test.failed_calls': 15_000,
    'pg_toast.failed_calls long values': 15_000,
    'rm_test.commits': 15_000,
    'pg_toast.commits long values': 15_000,
    'rm_test.commit_traces': 15_000,
    'tracebook.tree': 200,
    'rm_test.shape_states': 21_000,
  })
  await database.drop()
})

test.run()
