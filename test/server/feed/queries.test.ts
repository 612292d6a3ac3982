import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  namespaceFeedStatement,
  publicFeedStatement,
  rootsStatements,
  sessionFeedStatement,
} from '../../../src/server/feed/queries.ts'
import { namespaceChunkStatement } from '../../../src/server/trace/namespace-chunks.ts'
import { FAR_FUTURE } from '../../../src/server/trace/queries.ts'
import { mostRows, nodesOf, openFilled, pagesOf } from '../../support/filled-read-models.ts'

const test = suite('feed: a page')

const COUNT = 20_000
const LIMIT = 51

const models = await openFilled()
const { rows, addTraces, prepare } = models
test.after(() => models.close())

const id = (n: number) => `00000000-0000-4000-8000-${n.toString().padStart(12, '0')}`
const namespace = id(1)
const firstPage = [FAR_FUTURE.createdAt, FAR_FUTURE.id]
const middle = [COUNT / 2, id(0)]

const shown = [
  { show: await prepare(publicFeedStatement), rest: [LIMIT] },
  { show: await prepare(sessionFeedStatement), rest: [LIMIT, namespace] },
  { show: await prepare(namespaceFeedStatement), rest: [LIMIT, namespace] },
  { show: await prepare(rootsStatements.public), rest: [LIMIT] },
  { show: await prepare(rootsStatements.namespace), rest: [LIMIT, namespace] },
  { show: await prepare(rootsStatements.session), rest: [LIMIT, namespace, namespace] },
]
const page = await prepare(namespaceChunkStatement)
const pageValues = [namespace, ...firstPage, LIMIT, 1e9]
// Plans are kept: that of an empty table has to do for a full one.
for (const { show, rest } of shown) await show([...firstPage, ...rest])
await page(pageValues)

const fill = `insert into feed select md5(i::text)::uuid, '${namespace}', i, 'public' from generate_series(1, ${COUNT}) i`
await rows('alter table feed set (autovacuum_enabled = off)')
await rows(fill)
await addTraces('select id, namespace_id, id::text as name, created_at, visibility from feed')
await rows(`insert into namespaces select ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'n' || i, '"n"', null, 'org',
  'user', null, gen_random_uuid(), 0 from generate_series(1, 5000) i`)

const look = async () => {
  for (const { show, rest } of shown) {
    for (const from of [firstPage, middle]) {
      for (const plan of await show([...from, ...rest])) {
        assert.is(plan['Actual Rows'], LIMIT)
        assert.ok(mostRows(plan) <= 2 * LIMIT, `${mostRows(plan)} rows for ${LIMIT}`)
        assert.ok(pagesOf(plan) <= 22 * LIMIT, `${pagesOf(plan)} pages for ${LIMIT} rows`)
      }
    }
  }
  for (const plan of await page(pageValues)) assert.ok(mostRows(plan) <= LIMIT, `${mostRows(plan)} rows for ${LIMIT}`)
}

test('a page reads as many traces as it shows, also with the plan of an empty table', look)

test('a page reads as many traces as it shows, with the plan of an analysed table', async () => {
  await rows('analyze')
  await look()
})

const deadEntries = async () => {
  const [plan] = await shown[0]!.show([...firstPage, LIMIT])
  return nodesOf(plan!).reduce((sum, node) => sum + (node['Heap Fetches'] ?? 0), 0)
}

test('a page does not read traces that were deleted before a vacuum, whether many or few', async () => {
  for (const [kept, deleted] of [
    [COUNT, 300],
    [1_000, COUNT - 1_300],
  ] as const) {
    await rows('vacuum feed')
    await rows(`delete from feed where created_at > ${kept - (kept === COUNT ? 300 : 0)}`)
    assert.ok((await deadEntries()) >= deleted)
    await rows('vacuum feed')
    assert.is(await deadEntries(), 0)
  }
})

test.run()
