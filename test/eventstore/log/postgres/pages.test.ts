import * as assert from 'uvu/assert'
import { pageOfStream } from '../../../../src/eventstore/log/postgres/reader.ts'
import { mostRows, type Plan } from '../../../support/filled-read-models.ts'
import { aStream, anAppend, numbered } from '../support/events.ts'
import { faultSuite } from '../support/faults.ts'

const test = faultSuite('a page of a long stream')

const LENGTH = 5_000n
const PAGE = 100

for (const direction of ['asc', 'desc'] as const) {
  test(`reads as many events as it returns, ${direction}, by a plan that was made while there were none`, async (scene) => {
    const { open, sql } = scene
    const log = open()
    // As the product's own connections do.
    await sql.query('set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off')
    await sql.query('set plan_cache_mode = force_generic_plan')
    await sql.query(`prepare page (text, int8, int4) as ${pageOfStream(direction)}`)
    const stream = aStream()
    const mostRowsOfPage = async (from: bigint) => {
      const { rows } = await sql.query(`explain (analyze, format json) execute page ('${stream}', ${from}, ${PAGE})`)
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }]
      return mostRows(plan)
    }
    await mostRowsOfPage(0n)
    for (let revision = 0n; revision < LENGTH; revision += 500n)
      await log.append(stream, revision === 0n ? 'none' : revision - 1n, numbered(500, Number(revision)))
    for (const from of [0n, LENGTH / 2n, LENGTH - 1n])
      assert.ok((await mostRowsOfPage(from)) <= PAGE + 1, `from ${from}`)
  })
}

test('a follower gets no more at a time than fits its buffer', async (scene) => {
  const writer = scene.open()
  const large = JSON.stringify('x'.repeat(1_500_000))
  for (let i = 0; i < 5; i++) await writer.append(aStream(), 'none', anAppend(large))
  const counts: number[] = []
  for await (const { events, through } of scene.open().follow({ after: 0n, signal: new AbortController().signal })) {
    counts.push(events.length)
    if (through === 5n) break
  }
  assert.equal(counts, [2, 2, 1])
})

test.run()
