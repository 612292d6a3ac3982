import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { searchGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { type Wanted, candidates } from '../../src/search/candidates.ts'
import { BOTTOM, firstPlace } from '../../src/search/cursor.ts'
import { readQuery } from '../../src/search/query.ts'
import type { ReadRows } from '../../src/search/reads.ts'
import { withConnection } from '../support/database.ts'
import { openSearch } from './support/open-search.ts'

const test = suite('search: plans')

const { app, database } = await openSearch(test)

type Node = { 'Node Type': string; 'Index Name'?: string; 'Relation Name'?: string; Plans?: Node[] }
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How PostgreSQL reads a segment for a query. */
const readsOf = (q: string, range: object = {}) =>
  app.service.searches.snapshot(async (rows) => {
    const plans: Node[] = []
    const explained: ReadRows = async (name, text, values) => {
      if (name !== '') return rows(name, text, values)
      const [row] = await rows<{ 'QUERY PLAN': [{ Plan: Node }] | string }>('', `explain (format json) ${text}`, values)
      const plan = row!['QUERY PLAN']
      plans.push((typeof plan === 'string' ? (JSON.parse(plan) as [{ Plan: Node }]) : plan)[0].Plan)
      return []
    }
    const hashOf = await app.service.searches.hashes(rows)
    const wanted: Wanted = { query: readQuery(q), userId: undefined, namespaces: [], segments: [0n], hashOf }
    const place = { below: firstPlace(10n ** 12n).from, ...range }
    await Array.fromAsync(candidates(explained, wanted, place, 100))
    assert.is(plans.length, 1)
    return nodesOf(plans[0]!)
  })

const queries = [
  'word',
  'getUserName',
  'a-phrase "of words" OR http/app.ts',
  'agent:x has:error',
  'model:m',
  '',
  '登录 OR x',
]

const assertByIndex = async () => {
  for (const q of queries)
    for (const range of [{}, { downTo: BOTTOM }]) {
      const nodes = await readsOf(q, range)
      assert.ok(!nodes.some((node) => node['Node Type'] === 'Seq Scan'), `${q}: a table is scanned`)
      const segment = nodes.filter((node) => node['Relation Name']?.startsWith('search_docs'))
      assert.equal(segment.map((node) => node['Node Type']), ['Bitmap Heap Scan'], q) // prettier-ignore
      const indexes = nodes.filter((node) => node['Node Type'] === 'Bitmap Index Scan')
      assert.ok(indexes.every((node) => node['Index Name']?.includes('tokens')), q) // prettier-ignore
    }
}

/** Rows without texts, more than the planner reads one by one. */
const fill = `
  insert into search_docs (trace_id, incarnation, ordinal, seq, at, tokens, of_trace)
  select gen_random_uuid(), 0, 0, 1000 + n, 0, array(select (random() * 1e9)::int4 from generate_series(1, 40)), array[n % 10]
  from generate_series(1, 20000) n`

test('a segment is read by its index of tokens, whatever is looked for, also before its rows were counted', () =>
  withConnection(database.url, async (client) => {
    await client.query(`set search_path = ${schemaOf(searchGroup)}`)
    await client.query(fill)
    await assertByIndex()
    await client.query('analyze')
    await assertByIndex()
  }))

test.run()
