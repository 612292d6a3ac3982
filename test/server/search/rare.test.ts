import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { searchGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { candidates } from '../../../src/server/search/candidates.ts'
import { firstPageStart } from '../../../src/server/search/cursor.ts'
import { readQuery } from '../../../src/server/search/query.ts'
import type { ReadRows } from '../../../src/server/search/reads.ts'
import type { IndexQuery } from '../../../src/server/search/statements.ts'
import { filterToken } from '../../../src/server/trace/tokens/filter-tokens.ts'
import {
  type Segment,
  createMerged,
  createSegment,
  indexSegment,
  keyOfMerged,
  segmentName,
} from '../../../src/tables/search.ts'
import { withConnection } from '../../support/database.ts'
import { clock } from './support/clock.ts'
import { openSearch } from './support/open-search.ts'

const test = suite('search: rare words')

const { app, database } = await openSearch(test)

const NEWEST: Segment = { start: 3_000n, level: 0 }
const SMALL: Segment = { start: 2_900n, end: 3_000n, level: 0 }
/** Two levels of merged segments, of 8 and 64 slices. */
const [LATE, EARLY]: [Segment, Segment] = [
  { start: 2_000n, end: 2_900n, level: 1 },
  { start: 1_100n, end: 2_000n, level: 1 },
]
const OLDEST: Segment = { start: 100n, end: 1_100n, level: 2 }
const segments = [NEWEST, SMALL, LATE, EARLY, OLDEST]

/** The positions of all rows with a word. */
const words = {
  once: [150],
  twice: [1_200, 2_990],
  everywhere: Array.from({ length: 2_900 }, (_, i) => 100 + i),
  formerly: Array.from({ length: 900 }, (_, i) => 150 + i),
}

const hashOf = await app.service.searches.snapshot((rows) => app.service.searches.hashes(rows))

/** SQL for a row of a segment at each of some positions; the traces are different ones. */
const fill = (segment: Segment, word: string, positions: readonly number[]) => {
  const { start, end } = segment
  const own = positions.filter((seq) => seq >= start && (end === undefined || seq < end))
  return `
    insert into ${segmentName(segment)} (trace_id, incarnation, ordinal, place, seq, at, late, tokens, of_trace)
    select gen_random_uuid(), 0, 0, 0, seq, 0, 0, array[${hashOf(word)}], array[${hashOf(filterToken('is', 'public'))}]
    from unnest('{${own.join()}}'::int8[]) seq`
}

await withConnection(database.url, async (client) => {
  await client.query(`set search_path = ${schemaOf(searchGroup)}`)
  for (const segment of segments) {
    await client.query(segment.level === 0 ? createSegment(segment.start) : createMerged(segment))
    for (const [word, positions] of Object.entries(words)) await client.query(fill(segment, word, positions))
    if (segment.level > 0) await client.query(keyOfMerged(segment))
    if (segment !== NEWEST) await client.query(indexSegment(segment))
  }
})

/** The positions of the rows that are proposed for a word, and the tables that each statement asks for them, or counts. */
const askedFor = (word: string, range: { downTo?: bigint } = {}) =>
  app.service.searches.snapshot(async (rows) => {
    const asked: string[] = []
    const noted: ReadRows = (name, text, values) => {
      const tables = [...text.matchAll(/from (search_docs_\d+_\d) d/g)].map(([, table]) => table)
      const how = text.includes('count(*)') ? 'count' : text.includes('array[((seq') ? 'slices of' : 'rows of'
      asked.push(`${how} ${tables.join()}`)
      return rows(name, text, values)
    }
    const query = readQuery(word, clock)
    const wanted: IndexQuery = { query, isExact: true, namespaces: [], segments, portions: 0, hashOf }
    const { below } = firstPageStart(10_000n, 0)
    const downTo = range.downTo === undefined ? undefined : { seq: range.downTo, ordinal: 0 }
    const found = await Array.fromAsync(candidates(noted, wanted, { below, downTo }, 10_000))
    return { found: found.flatMap(({ proposed }) => proposed.map(({ seq }) => Number(seq))), asked }
  })

/** What is asked of every word: the newest segment, then two pieces, and then eight. */
const first = [
  'rows of search_docs_3000_0',
  'slices of search_docs_2900_0,search_docs_2000_1',
  'slices of search_docs_2000_1,search_docs_1100_1',
]

test('of a word that occurs once only the table is asked that has it', async () => {
  assert.equal(await askedFor('once'), {
    found: [150],
    asked: [...first, 'count search_docs_1100_1', 'count search_docs_100_2', 'rows of search_docs_100_2'],
  })
  assert.equal(await askedFor('nowhere'), {
    found: [],
    asked: [...first, 'count search_docs_1100_1', 'count search_docs_100_2'],
  })
})

test('rows of a table of which slices were asked before are proposed once, and none below the end of a range', async () => {
  assert.equal((await askedFor('twice')).found, [2_990, 1_200])
  assert.equal((await askedFor('twice', { downTo: 1_200n })).found, [2_990, 1_200])
  assert.equal((await askedFor('twice', { downTo: 1_201n })).found, [2_990])
  assert.equal((await askedFor('once', { downTo: 151n })).found, [])
})

test('a word that is rare at first, and not in an older table, is asked of that in slices again', async () => {
  const { found, asked } = await askedFor('formerly')
  assert.equal(found, words.formerly.toReversed())
  assert.equal(asked.slice(0, 5), [...first, 'count search_docs_1100_1', 'count search_docs_100_2'])
  assert.ok(
    asked.slice(5).every((one) => one.startsWith('slices of')),
    asked.join('\n'),
  )
})

test('of a word that is not rare no table is counted', async () => {
  const { found, asked } = await askedFor('everywhere')
  assert.equal(found, words.everywhere.toReversed())
  assert.not(asked.some((one) => one.startsWith('count')))
})

test.run()
