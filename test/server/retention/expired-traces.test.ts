import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  START,
  expiredStatement,
  namespacesWithRetentionStatement,
} from '../../../src/server/retention/expired-traces.ts'
import { mostRows, openFilled, pagesOf } from '../../support/filled-read-models.ts'

const test = suite('retention: expired traces')

const COUNT = 20_000
const LIMIT = 20

const models = await openFilled()
const { rows, addTraces, prepare, sortsInParts } = models
test.after(() => models.close())

const id = (n: number) => `00000000-0000-4000-8000-${n.toString().padStart(12, '0')}`
const [few, many] = [id(1), id(2)]
const TODAY = 20_000
const DAY_MS = 24 * 60 * 60_000

const expired = await prepare(expiredStatement)
const keeping = await prepare(namespacesWithRetentionStatement)
const due = (namespace: string, days: number, { updatedDay, id: after } = START) => {
  const since = (TODAY - days) * DAY_MS
  return [namespace, TODAY - days, since, updatedDay, after, LIMIT]
}
// Plans are kept: that of an empty table has to do for a full one.
await expired(due(many, 30))
await keeping([START.id, 500])

// Of each namespace a tenth has not changed for long; the rest changed lately, although it was created long ago.
await addTraces(`
  select md5(i::text)::uuid as id, (case when i % 100 = 0 then '${few}' else '${many}' end)::uuid as namespace_id,
    i::text as name, 0 as created_at, 'private' as visibility from generate_series(1, ${COUNT}) i`)
await rows(`
  update traces set updated_at =
    (case when external_id::int % 1000 < 100 then ${TODAY - 100} else ${TODAY} end)::int8 * ${DAY_MS} + external_id::int`)
await rows(`insert into namespaces select ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'n' || i, '"n"', null, 'org',
  'user', null, gen_random_uuid(), 0, case when i <= 2 then 30 end from generate_series(1, 5000) i`)
await rows('vacuum traces')

const look = async () => {
  for (const plan of await keeping([START.id, 500])) {
    assert.is(plan['Actual Rows'], 2)
    assert.ok(mostRows(plan) <= 2, `${mostRows(plan)} rows for 2`)
  }
  for (const namespace of [few, many]) {
    for (const plan of await expired(due(namespace, 30))) {
      assert.is(plan['Actual Rows'], LIMIT)
      // One more, to see where those with one hash end.
      if (!sortsInParts) continue
      assert.ok(mostRows(plan) <= LIMIT + 1, `${mostRows(plan)} rows for ${LIMIT}`)
      assert.ok(pagesOf(plan) <= 5 * LIMIT, `${pagesOf(plan)} pages for ${LIMIT} rows`)
    }
    for (const plan of await expired(due(namespace, 365))) assert.is(mostRows(plan), 0)
  }
}

test('the statement reads as many rows as it returns, also with the plan of an empty table', look)

test('the statement reads as many rows as it returns, with the plan of an analysed table', async () => {
  await rows('analyze')
  await look()
})

test('the statement returns the exact traces, page by page, the oldest day first', async () => {
  const since = (TODAY - 100) * DAY_MS + 1_500
  let after = START
  const found: string[] = []
  for (;;) {
    const page = await rows<typeof after>(`execute statement_1 ('${many}', ${TODAY - 100}, ${since},
      ${after.updatedDay}, '${after.id}', ${LIMIT})`)
    found.push(...page.map(({ id }) => id))
    if (page.length < LIMIT) break
    after = page.at(-1)!
  }
  const expected = await rows<{ id: string }>(
    `select id from traces where namespace_id = '${many}' and updated_at < ${since}`,
  )
  assert.equal(found.sort(), expected.map(({ id }) => id).sort())
  assert.is(found.length, 99 + 99) // 1 to 99 and 1,000 to 1,099, less the hundreds
})

test('a change on the same day does not change the index', async () => {
  const updates = async () => {
    await rows('select pg_stat_force_next_flush()')
    return (
      await rows<{ hot: bigint }>(`select n_tup_hot_upd as hot from pg_stat_user_tables
      where relid = 'traces'::regclass`)
    )[0]!.hot
  }
  await rows('vacuum full traces') // leaves room on each page
  const before = await updates()
  await rows(`update traces set updated_at = updated_at + 1 where external_id in ('7', '8')`)
  assert.is((await updates()) - before, 2n)
})

test.run()
