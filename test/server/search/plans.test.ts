import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { searchGroup } from '../../../projections/index.ts'
import {
  type Segment,
  createMerged,
  createSegment,
  indexSegment,
  keyOfMerged,
  segmentName,
} from '../../../src/tables/search.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { candidates } from '../../../src/server/search/candidates.ts'
import { BOTTOM, firstPageStart } from '../../../src/server/search/cursor.ts'
import { readQuery } from '../../../src/server/search/query.ts'
import type { ReadRows } from '../../../src/server/search/reads.ts'
import type { IndexQuery, Range } from '../../../src/server/search/statements.ts'
import { withConnection } from '../../support/database.ts'
import { openSearch } from './support/open-search.ts'
import { clock } from './support/clock.ts'

const test = suite('search: plans')

const { app, database } = await openSearch(test)

type Node = {
  'Node Type': string
  'Index Name'?: string
  'Index Cond'?: string
  'Relation Name'?: string
  Plans?: Node[]
}
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const NEWEST = 100_000n
const OLDER: Segment = { start: 50_000n, end: NEWEST, level: 0 }
const MERGED: Segment = { start: 0n, end: 50_000n, level: 1 }

/** How PostgreSQL reads the segments for a query: the newest, then another one with a slice of the merged one, and then the rest of that. */
const readsOf = (q: string, range: Partial<Range>) =>
  app.service.searches.snapshot(async (rows) => {
    const plans: Node[][] = []
    const explained: ReadRows = async (name, text, values) => {
      if (name !== '') return rows(name, text, values)
      const [row] = await rows<{ 'QUERY PLAN': [{ Plan: Node }] | string }>('', `explain (format json) ${text}`, values)
      const plan = row!['QUERY PLAN']
      plans.push(nodesOf((typeof plan === 'string' ? (JSON.parse(plan) as [{ Plan: Node }]) : plan)[0].Plan))
      return []
    }
    const hashOf = await app.service.searches.hashes(rows)
    const wanted: IndexQuery = {
      query: readQuery(q, clock),
      isExact: false,
      namespaces: [],
      segments: [{ start: NEWEST, level: 0 }, OLDER, MERGED],
      portions: 0,
      hashOf,
    }
    const place = { below: firstPageStart(10n ** 12n, 0).below, ...range }
    await Array.fromAsync(candidates(explained, wanted, place, 100))
    return plans
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
const ranges = [{}, { downTo: BOTTOM }, { except: new Set(['0199aaaa-0000-7000-8000-000000000000']) }]

const ofSegments = (nodes: readonly Node[]) => nodes.filter((node) => node['Relation Name']?.startsWith('search_docs'))

const assertPlans = async () => {
  for (const q of queries)
    for (const range of ranges) {
      const [newest = [], older = [], rest = []] = await readsOf(q, range)
      for (const node of [...newest, ...older, ...rest]) assert.is.not(node['Node Type'], 'Seq Scan', q)
      assert.equal(ofSegments(newest).map((node) => node['Node Type']), ['Tid Range Scan'], q) // prettier-ignore
      assert.equal(ofSegments(older).map((node) => node['Node Type']), ['Bitmap Heap Scan', 'Bitmap Heap Scan'], q) // prettier-ignore
      assert.equal(ofSegments(rest).map((node) => node['Node Type']), ['Bitmap Heap Scan'], q) // prettier-ignore
      for (const node of [...older, ...rest].filter((one) => one['Index Name']?.startsWith('search_docs_0_1')))
        assert.match(node['Index Cond'] ?? '', 'seq - ', q)
      const indexes = [...older, ...rest].filter((node) => node['Node Type'] === 'Bitmap Index Scan')
      assert.ok(indexes.length > 0 && indexes.every((node) => node['Index Name']?.includes('tokens')), q) // prettier-ignore
    }
}

/** Rows without texts, more than the planner reads one by one. */
const fill = (segment: Segment) => `
  insert into ${segmentName(segment)} (trace_id, incarnation, ordinal, place, seq, at, late, tokens, of_trace)
  select gen_random_uuid(), 0, 0, 0, ${segment.start} + n, 0, 0, array(select (random() * 1e9)::int4 from generate_series(1, 40)), array[n % 10]
  from generate_series(1, 20000) n`

test('segments are read by their indexes, for any query, even without statistics', () =>
  withConnection(database.url, async (client) => {
    await client.query(`set search_path = ${schemaOf(searchGroup)}`)
    for (const statement of [
      ...[createMerged(MERGED), fill(MERGED), keyOfMerged(MERGED), indexSegment(MERGED)],
      ...[createSegment(OLDER.start), fill(OLDER), indexSegment(OLDER)],
      ...[createSegment(NEWEST), fill({ start: NEWEST, level: 0 })],
    ])
      await client.query(statement)
    await assertPlans()
    await client.query('analyze')
    await assertPlans()
  }))

test.run()
