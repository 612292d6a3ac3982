import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changedStatement } from '../../../../src/server/trace/messages/changed.ts'
import { chunkStatement } from '../../../../src/server/trace/messages/chunks.ts'
import type { Keys } from '../../../../src/server/trace/messages/queries.ts'
import { pageStatement, pageValues } from '../../../../src/server/trace/messages/read-page.ts'
import { type Filled, mostRows, nodesOf, openFilled, pagesOf } from '../../../support/filled-read-models.ts'

const test = suite('trace: a page of a long trace')

const COUNT = 50_000
const LIMIT = 51

const models = await openFilled()
test.after(() => models.close())

const [id, other] = [randomUUID(), randomUUID()]
const keysOf = (ordinal: number): Keys => [Infinity, ordinal * 1_000, ordinal]

/** Every second message has an order, and comes before all others; those go by their time. */
const fill = async ({ rows, addTraces }: Filled) => {
  await addTraces(`
    select v.id::uuid, gen_random_uuid() as namespace_id, v.id as name, 0 as created_at, 'public' as visibility
    from (values ('${id}'), ('${other}')) v (id)`)
  await addTraces(`
    select gen_random_uuid() as id, gen_random_uuid() as namespace_id, 'another' as name, 0 as created_at, 'private' as visibility
    from generate_series(1, 10000)`)
  // Every tenth is in the block of the nine before it, and every hundredth has changed since.
  const message = (trace: string, i: string) => `
    select '${trace}'::uuid, 0, ${i}, gen_random_uuid(), 'm' || ${i}, 'user', case when ${i} % 2 = 0 then ${i} end,
      ${i} * 1000, 'user_message', '[]'::json, 'text -', 2, 4, 0, 0, ${i} + 1, ${i} + case when ${i} % 100 = 99 then 2 else 1 end,
      ${i} - ${i} % 10 + 1, ${i} % 10 * 114, ${i} % 10 * 114 + 109, ${i} % 10 * 114 + 114`
  const into = `insert into messages (trace_id, incarnation, ordinal, id, external_id, role, sequence, timestamp, class,
    tools, parts_head, part_count, parts_length, created_at, updated_at, added, revision, block, heads_at, parts_at, parts_end)`
  const heads = [2, 5].map((end) => `${String(end).padStart(9)} ${'1 text -'.padEnd(44)}`).join()
  const body = (count: string) => `repeat('${heads}{},{}', ${count})::bytea`
  await rows(`${into} ${message(id, 'i')} from generate_series(0, ${COUNT - 1}) i`)
  await rows(`${into} ${message(other, '0')}`)
  await rows(
    `insert into message_blocks select '${id}', 0, i + 1, i, ${body('10')} from generate_series(0, ${COUNT - 1}, 10) i`,
  )
  await rows(`insert into message_blocks select '${other}', 0, 1, 0, ${body('1')}`)
  await rows(
    `insert into message_parts select '${id}', 0, i, 1, '1 text -', '{}' from generate_series(99, ${COUNT - 1}, 100) i`,
  )
}

/** The first page, one in the middle, and the last. */
const places = [undefined, keysOf(1), keysOf(COUNT - 2 * LIMIT - 1)]
const ordinals = Array.from({ length: LIMIT }, (_, i) => COUNT / 2 - i)
const MOST = 1_000_000
const named = [id, null, null, null] as const
const pages = [false, true].map((includeParts) => ({
  text: pageStatement({ includeParts, isOfChanges: false }),
  values: places.flatMap((after) => [MOST, 2_000].map((most) => pageValues({ named, limit: LIMIT, after }, most))),
}))
const chunks = [false, true].map((includeParts) => ({
  text: chunkStatement(includeParts),
  values: [[id, 0, `{${ordinals.join(',')}}`, 1e9]],
}))

/** Up to so many that have changed are found by that; to know that there are more, these are looked at, too. */
const FEW = 2_000
/** What has changed since a revision: few messages of many, and as many as fit of nearly all. */
const changes = [COUNT - LIMIT, 100].flatMap((since) =>
  [false, true].map((includeParts) => ({
    text: pageStatement({ includeParts, isOfChanges: true }),
    values: places
      .slice(0, 2)
      .map((after) => pageValues({ named, limit: LIMIT, after, changedSince: BigInt(since) }, MOST)),
    most: since === 100 ? 2 * FEW + LIMIT : 2 * LIMIT,
  })),
)
const pieces = [false, true].map((includeParts) => ({
  text: changedStatement(includeParts),
  values: [[id, 0, COUNT - LIMIT, 1e9, 1e9]],
}))

type Prepared = { show: Awaited<ReturnType<Filled['prepare']>>; values: unknown[][]; text: string; most: number }
const prepared: Prepared[] = []
for (const { text, values, most = 2 * LIMIT } of [...pages, ...chunks, ...changes, ...pieces] as Omit<
  Prepared,
  'show'
>[])
  prepared.push({ show: await models.prepare(text), values, text, most })
// Plans are kept: that of an empty table has to do for a full one.
for (const { show, values } of prepared) await show(values[0]!)
await fill(models)

const look = async () => {
  for (const { show, values, text, most } of prepared) {
    for (const given of values) {
      for (const plan of await show(given)) {
        assert.ok(mostRows(plan) <= most, `${mostRows(plan)} rows for ${LIMIT}: ${text}`)
        // By key: a page or two of each table's indexes for each row, and the row.
        assert.ok(pagesOf(plan) <= 20 * LIMIT, `${pagesOf(plan)} pages for ${LIMIT} rows: ${text}`)
        const sorts = nodesOf(plan).filter((node) => node['Node Type'].includes('Sort'))
        assert.ok(sorts.every((node) => node['Actual Rows'] <= LIMIT))
      }
    }
  }
}

test('a page reads as many rows as it shows, though the plan is of when there was none', look)

test('a page reads as many rows as it shows by the plan of an analysed table', async () => {
  await models.rows('analyze')
  await look()
})

test('a page is the part of the whole list after the keys that are asked for', async () => {
  const all = await models.rows<{ ordinal: number }>(
    'select ordinal from messages where trace_id = $1 order by sequence nulls last, timestamp nulls last, ordinal',
    [id],
  )
  const expected = all.map(({ ordinal }) => ordinal)
  for (const after of places) {
    const shown = await models.rows<{ ordinal: number }>(
      pageStatement({ includeParts: true, isOfChanges: false }),
      pageValues({ named, limit: LIMIT, after }, MOST),
    )
    const at = expected.indexOf(shown[0]!.ordinal)
    assert.equal(
      shown.map(({ ordinal }) => ordinal),
      expected.slice(at, at + LIMIT),
    )
    assert.is(at, after === undefined ? 0 : expected.indexOf(after[2]) + 1)
  }
})

test.run()
