import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { dueStatement, firstOfDayStatement } from '../../../src/server/retention/outlook.ts'
import { mostRows, openFilled } from '../../support/filled-read-models.ts'

const test = suite('retention: what it would delete')

const models = await openFilled()
const { rows, addTraces, prepare } = models
test.after(() => models.close())

const [few, many] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const
const TODAY = 20_000
const DAY_MS = 86_400_000
const since = (TODAY - 30) * DAY_MS

const due = await prepare(dueStatement)
const first = await prepare(firstOfDayStatement)
// Plans are kept: that of an empty table has to do for a full one.
await due([many, TODAY - 30, since])
await first([many, TODAY])

// Of `many` one in ten has not changed for 100 days, and of these 1 in 100 for a day more; of `few` the like, and one trace changed at the limit.
await addTraces(`
  select md5(i::text)::uuid as id, (case when i % 100 = 0 then '${few}' else '${many}' end)::uuid as namespace_id,
    i::text as name, 0 as created_at, 'private' as visibility from generate_series(1, 20000) i`)
await rows(`
  update traces set updated_at = external_id::int + ${DAY_MS}::int8 *
    (case when external_id::int % 10000 in (300, 301) then ${TODAY - 101} when external_id::int % 1000 < 100 then ${TODAY - 100} else ${TODAY} end)`)
await rows(`update traces set updated_at = ${since} where external_id = '500'`)
await rows('vacuum traces')

const look = async () => {
  for (const [namespace, old] of [
    [few, 20 + 2],
    [many, 1_980 + 2],
  ] as const)
    for (const plan of await due([namespace, TODAY - 30, since]))
      // One more that changed on the last day, and one to see where those with one hash end.
      assert.ok(mostRows(plan) <= old + 2, `${mostRows(plan)} rows for ${old}`)
  for (const namespace of [few, many])
    for (const plan of await first([namespace, TODAY - 101]))
      assert.ok(mostRows(plan) <= 3, `${mostRows(plan)} rows for 2 of a day`)
}

test('reads no rows but those that would go, also with the plan of an empty table', look)

test('reads no rows but those that would go, with the plan of an analysed table', async () => {
  await rows('analyze')
  await look()
})

test('is exact to the millisecond', async () => {
  const count = async (namespace: string) => {
    const [{ due: n } = { due: -1 }] = await rows<{ due: number }>(
      `execute statement_1 ('${namespace}', ${TODAY - 30}, ${since})`,
    )
    return n
  }
  const expected = async (namespace: string) =>
    Number(
      (
        await rows<{ n: bigint }>(
          `select count(*) as n from traces where namespace_id = '${namespace}' and updated_at < ${since}`,
        )
      )[0]!.n,
    )
  for (const namespace of [few, many]) assert.is(await count(namespace), await expected(namespace))
  const [oldest] = await rows<{ id: string; updated_at: bigint }>(`execute statement_2 ('${many}', ${TODAY - 101})`)
  assert.equal([oldest!.updated_at], [BigInt((TODAY - 101) * DAY_MS + 301)])
})

test.run()
