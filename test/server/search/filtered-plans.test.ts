import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MOST_LOOKED_AT, filteredStatements } from '../../../src/server/search/filtered-lists.ts'
import { FAR_FUTURE } from '../../../src/server/trace/queries.ts'
import { mostRows, openFilled, pagesOf } from '../../support/filled-read-models.ts'

const test = suite('search: plans of filtered lists')

const COUNT = 12_000
const LIMIT = 51
/** Between the last changes of two sessions: sixty of them are in one part of the index. */
const UPDATE_MS = 10_000
const SAME_PART = 60

const models = await openFilled()
const { rows, addTraces, prepare, sortsInParts } = models
test.after(() => models.close())

const shop = '00000000-0000-4000-8000-000000000004'
const author = '00000000-0000-4000-8000-000000000006'
/** One session of a thousand has this project. */
const RARE = '{"\\"rare\\""}'
const columns = (project: string | null) => [null, '{}', null, '{}', project, '{}', null, '{}', null, '{}', null, '{}']

type Name = keyof typeof filteredStatements
const names = Object.keys(filteredStatements) as Name[]
const common = (name: Name, limit: number, from: number | null) => {
  const first = name.endsWith('startedAt') ? 'Infinity' : FAR_FUTURE.createdAt
  const isOfMember = !name.startsWith('everybody') && !name.startsWith('public')
  return [name === 'everybody' ? null : shop, first, FAR_FUTURE.id, limit, isOfMember ? author : null, from, null]
}

// Plans are kept: that of an empty table has to do for a full one.
type Prepared = Awaited<ReturnType<typeof prepare>>
const lists: { readonly name: Name; readonly page: Prepared; readonly values: Prepared }[] = []
for (const name of names) {
  const [page, values] = [await prepare(filteredStatements[name].page), await prepare(filteredStatements[name].values)]
  await page([...common(name, LIMIT, null), null, null, null, ...columns(RARE)])
  await values([...common(name, MOST_LOOKED_AT, null), '{project}'])
  lists.push({ name, page, values })
}

await addTraces(`
  select gen_random_uuid() as id, '${shop}'::uuid as namespace_id, 't' || i as name, i as created_at, 'public' as visibility
  from generate_series(1, ${COUNT}) i`)
await rows(`update traces set started_at = created_at, ended_at = created_at, created_by = '${author}', updated_at = created_at * ${UPDATE_MS},
  project_name = case when created_at % 1000 = 0 then '"rare"' when created_at % 2 = 0 then '"usual"' end::json`)
await rows(`insert into members values ('${shop}', '${author}', 'member', null, 0)`)
await rows(`insert into namespaces values ('${shop}', 'shop', '"Shop"', null, 'org', 'user', null, '${author}', 0)`)
await rows(`insert into feed select id, namespace_id, created_at, visibility from traces`)
await rows('analyze')

for (const { name, page, values } of lists) {
  const isByUpdate = name.endsWith('updatedAt')
  const ofUpdates = sortsInParts ? SAME_PART : COUNT
  const most = (rows: number) => (isByUpdate ? rows + ofUpdates : rows)
  test(`${name}: a page looks at no more sessions than it says`, async () => {
    for (const plan of await page([...common(name, LIMIT, null), null, null, null, ...columns(RARE)])) {
      assert.is(plan['Actual Rows'], 6)
      assert.ok(mostRows(plan) <= most(MOST_LOOKED_AT + 1), `${mostRows(plan)} rows`)
    }
    for (const plan of await values([...common(name, MOST_LOOKED_AT, null), '{project}'])) {
      assert.is(plan['Actual Rows'], 3)
      assert.ok(mostRows(plan) <= most(MOST_LOOKED_AT), `${mostRows(plan)} rows`)
    }
  })

  test(`${name}: a page that is full looks at no others`, async () => {
    for (const plan of await page([...common(name, LIMIT, null), null, null, null, ...columns('{"\\"usual\\""}')])) {
      assert.is(plan['Actual Rows'], LIMIT)
      assert.ok(mostRows(plan) <= most(4 * LIMIT), `${mostRows(plan)} rows`)
      assert.ok(pagesOf(plan) <= 40 * most(4 * LIMIT), `${pagesOf(plan)} pages`)
    }
  })

  test(`${name}: nothing before the first time is looked at`, async () => {
    if (name === 'everybody') return
    const from = (COUNT - 100) * (isByUpdate ? UPDATE_MS : 1)
    for (const plan of await page([...common(name, LIMIT, from), null, null, null, ...columns(RARE)])) {
      assert.is(plan['Actual Rows'], 1)
      assert.ok(mostRows(plan) <= most(800), `${mostRows(plan)} rows`)
    }
  })
}

test.run()
