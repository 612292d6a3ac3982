import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sessionStatements, subAgentsStatements } from '../../../src/server/feed/session-lists.ts'
import { childrenStatement } from '../../../src/server/trace/children-route.ts'
import { Sort } from '../../../src/contract/traces.ts'
import { type ListPlace, listStatement, orderValues } from '../../../src/server/trace/lists.ts'
import { FAR_FUTURE } from '../../../src/server/trace/queries.ts'
import { mostRows, openFilled, pagesOf } from '../../support/filled-read-models.ts'

const test = suite('trace: pages of sorted lists')

const COUNT = 20_000
const LIMIT = 51

const models = await openFilled()
const { rows, addTraces, sortsInParts } = models
test.after(() => models.close())

const shop = '00000000-0000-4000-8000-000000000004'
const HOUR = 3_600_000
/** So many traces of the namespace are updated within ten minutes. */
const BUSY = 200

/** Only the beginning of this order is indexed. */
const mostUpdated = sortsInParts ? LIMIT + 2 * BUSY : COUNT

/** The first page, and one in the middle. */
const placesOf = (sort: Sort): ListPlace[] => [
  { sort, after: undefined },
  { sort, after: { time: sort === 'updatedAt' ? (COUNT / 2) * (HOUR / 6 / BUSY) : COUNT / 2, id: shop } },
]

/** Of whom every second trace of the namespace is a child. */
const parent = '00000000-0000-4000-8000-000000000005'

type Shown = {
  what: string
  /** So many rows may be looked at. */
  most: number
  show: Awaited<ReturnType<typeof models.prepare>>
  values: unknown[][]
}
const lists: Shown[] = []

/** Plans are kept: that of an empty table has to do for a full one. */
const prepare = async (what: string, text: string, values: unknown[][], most = LIMIT) => {
  const show = await models.prepare(text)
  await show(values[0]!)
  lists.push({ what, most, show, values })
}

for (const publicOnly of [false, true]) {
  const whose = publicOnly ? ', public' : ''
  for (const sort of Sort.options) {
    const values = placesOf(sort).map((place) => [...orderValues(shop, place), LIMIT])
    const most = sort === 'updatedAt' ? mostUpdated : LIMIT
    await prepare(`${sort}${whose}`, listStatement(sort, { publicOnly }), values, most)
    // Half of the traces are children of a parent that is not there: it is looked for each time.
    await prepare(`${sort}${whose}, roots`, listStatement(sort, { publicOnly, rootsOnly: true }), values, most)
  }
  const after = [
    [FAR_FUTURE.createdAt, FAR_FUTURE.id],
    [COUNT / 2, shop],
  ]
  const values = after.map((place) => [shop, parent, ...place, LIMIT])
  await prepare(`children${whose}`, childrenStatement(publicOnly), values)
}

const author = '00000000-0000-4000-8000-000000000006'
for (const [kind, statement] of Object.entries(sessionStatements)) {
  const values = placesOf('startedAt').map((place) => [...orderValues(shop, place), LIMIT])
  const withMember = values.map((some) => (kind === 'public' ? some : [...some, author]))
  await prepare(`sessions, ${kind}`, statement, withMember)
}
for (const [kind, statement] of Object.entries(subAgentsStatements)) {
  const values = [
    [FAR_FUTURE.createdAt, FAR_FUTURE.id],
    [COUNT / 2, shop],
  ].map((place) => [shop, parent, ...place, LIMIT, shop, ...(kind === 'public' ? [] : [author])])
  await prepare(`sub-agents, ${kind}`, statement, values)
}

// Of the namespace the newest half is private, and of each ten traces one began when is not known; those of others are newer.
await addTraces(`
  select gen_random_uuid() as id, '${shop}'::uuid as namespace_id, 't' || i as name, i as created_at,
    case when i <= ${COUNT / 2} then 'public' else 'private' end as visibility
  from generate_series(1, ${COUNT}) i`)
await addTraces(`
  select gen_random_uuid() as id, gen_random_uuid() as namespace_id, 'o' || i as name, ${COUNT} + i as created_at, 'public' as visibility
  from generate_series(1, ${COUNT}) i`)
await rows(`update traces set started_at = case when created_at % 10 > 0 then created_at end, ended_at = created_at,
  created_by = case when created_at % 4 = 0 then '${author}'::uuid else created_by end,
  updated_at = created_at * ${HOUR / 6 / BUSY}, parent_key = case when created_at % 2 = 0 then '${parent}'::uuid end`)
await rows(`insert into members values ('${shop}', '${author}', 'member', null, 0)`)
await rows(`insert into namespaces values ('${shop}', 'shop', '"Shop"', null, 'org', 'user', null, '${author}', 0)`)
await rows(`insert into feed select id, namespace_id, created_at, visibility from traces`)

const look = async () => {
  for (const { what: list, most, show, values } of lists) {
    for (const given of values) {
      for (const plan of await show(given)) {
        const what = `${list}, from ${given.join(', ')}`
        assert.is(plan['Actual Rows'], LIMIT, what)
        assert.ok(mostRows(plan) <= most, `${mostRows(plan)} rows for ${LIMIT}: ${what}`)
        assert.ok(pagesOf(plan) <= 20 * most, `${pagesOf(plan)} pages for ${LIMIT} rows: ${what}`)
      }
    }
  }
}

test('no plan reads all rows, also one that was made for empty tables', look)

test('no plan of an analysed table reads all rows', async () => {
  await rows('analyze')
  await look()
})

test.run()
