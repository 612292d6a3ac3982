import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup, timelineGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { type EntryRow, type Filter, listEntries } from '../../../src/server/history/entry-queries.ts'
import type { TimelineReads } from '../../../src/server/history/timeline-reads.ts'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { type Plan, mostRows } from '../../support/filled-read-models.ts'
import { newWorld } from '../../support/world.ts'

const test = suite('history: query plans of the timeline')

const COUNT = 40_000
const FIRST_AT = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const namespaceId = randomUUID()

const { database, close } = await newWorld()
const pool = newPool({
  url: database.url,
  name: 'test',
  max: 1,
  statementTimeoutMs: 0,
  schema: schemaOf(timelineGroup),
})
const connection = await pool.connect()
await connection.query('set default_transaction_read_only = off')
test.after(async () => {
  connection.release()
  await pool.end()
  await close()
})

/** One a second, each tenth of this namespace; times do not quite go up with the positions. */
await connection.query(
  `insert into entries (position, place, namespace_id, stream_id, first_revision, revision, through, at, type, data)
   select i - $3::int8, 0, of, of, i, i, i, $2::int8 + (i + case when i % 70 = 0 then 30 else 0 end) * ${SECOND}, 'NamespaceUpdated', '{}'
   from generate_series(0, $3::int8 - 1) i
   cross join lateral (select case when i % 10 = 0 then $1::uuid else md5((i % 10)::text)::uuid end as of) n`,
  [namespaceId, FIRST_AT, COUNT],
)
await connection.query('analyze entries')

const MODES = ['force_generic_plan', 'force_custom_plan'] as const
let statements = 0

/** Runs what is asked, and gives the most rows that a node of its plan looks at, whatever kind of plan is made. */
const looked = async (filter: Partial<Filter>) => {
  let most = 0
  const rows: TimelineReads['rows'] = async (_name, text, values) => {
    const name = `plan_${++statements}`
    const literals = values.map((value) => (value === null ? 'null' : connection.escapeLiteral(String(value))))
    await connection.query(`prepare ${name} as ${text}`)
    for (const mode of MODES) {
      await connection.query(`set plan_cache_mode = ${mode}`)
      const explain = `explain (analyze, buffers, format json) execute ${name}(${literals.join(', ')})`
      const plan = (await connection.query<{ 'QUERY PLAN': string }>(explain)).rows[0]!['QUERY PLAN']
      most = Math.max(most, mostRows((JSON.parse(plan) as [{ Plan: Plan }])[0].Plan))
    }
    return (await connection.query(`execute ${name}(${literals.join(', ')})`)).rows
  }
  const reads = { rows, mainSchema: schemaOf(mainGroup) } as TimelineReads
  const all = {
    order: 'asc',
    types: undefined,
    actor: undefined,
    from: undefined,
    to: undefined,
    after: undefined,
  } as const
  const found = await listEntries(
    reads,
    { of: 'namespace', id: namespaceId, traceId: undefined },
    { ...all, limit: 100, ...filter },
  )
  return { found, most }
}

const at = (second: number) => FIRST_AT + second * SECOND
const spans = {
  'in the middle': { from: at(50_000), to: at(55_000) },
  'at the end': { from: at(COUNT - 5_000) },
  'at the beginning': { to: at(5_000) },
  'without entries': { from: at(50_000), to: at(50_000) },
}

for (const order of ['asc', 'desc'] as const)
  for (const [name, span] of Object.entries(spans))
    test(`a period ${name} is found by an index, and read to its end: ${order}`, async () => {
      const all = (
        await connection.query<EntryRow>(
          `select position, at from entries where namespace_id = $1 and at >= $2 and at < $3 order by position ${order}`,
          [namespaceId, 'from' in span ? span.from : 0, 'to' in span ? span.to : Date.UTC(3000, 0)],
        )
      ).rows.map(({ position }) => position)
      const listed: bigint[] = []
      for (let after: Filter['after']; ;) {
        const { found, most } = await looked({ ...span, order, after })
        assert.ok(most < 1_200, `looks at ${most} rows`)
        listed.push(...found.slice(0, 100).map(({ position }) => position))
        if (found.length <= 100) break
        const last = found[99]!
        after = [last.position, last.place, last.span_end ?? undefined]
      }
      assert.equal(listed, all)
    })

test.run()
