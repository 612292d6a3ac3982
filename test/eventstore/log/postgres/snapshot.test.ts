import pg from 'pg'
import * as assert from 'uvu/assert'
import { aStream, numbered } from '../support/events.ts'
import { newClient } from '../../../../src/eventstore/postgres/connect.ts'
import { faultSuite } from '../support/faults.ts'

const test = faultSuite('appends beside an open snapshot')

test('the work of an append does not grow with the appends since a backup began', async ({ open, database }) => {
  const log = open()
  const own = newClient(database.url, 'test')
  await own.connect()
  const pagesOfAnAppend = async () => {
    const { rows } = await own.query(
      `explain (analyze, buffers, format json) select from log.append_rows(array[$1], array[-1::int8], array[1],
         array[1], array[1], array[1], array[1], array['[[1,"Counted","{}",null,""]]'::json], array[gen_random_uuid()], array[2],
         array[null::int4], array['{}'::bytea])`,
      [aStream()],
    )
    const [{ Plan: plan }] = JSON.parse(rows[0]['QUERY PLAN']) as [{ Plan: Record<string, number> }]
    return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!
  }
  /** The least of some: now and then an append makes its table larger, too. */
  const pages = async () => {
    const counts: number[] = []
    while (counts.length < 8) counts.push(await pagesOfAnAppend())
    return Math.min(...counts)
  }
  const before = await pages()
  const backup = new pg.Client({ connectionString: database.url })
  await backup.connect()
  await backup.query('begin isolation level repeatable read; select from log.appends limit 1')
  for (let round = 0; round < 15; round++) {
    const stream = aStream()
    for (let i = 0n; i < 100n; i++) await log.append(stream, i === 0n ? 'none' : i - 1n, numbered(1))
  }
  const after = await pages()
  await backup.end()
  await own.end()
  assert.ok(after <= before + 8, `${before} pages before, ${after} after 1,500 appends`)
})

test.run()
