import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listStatement } from '../../../src/server/trace/lists.ts'
import { FAR_FUTURE, resolveStatement } from '../../../src/server/trace/queries.ts'
import { mostRows, openFilled, pagesOf } from '../../support/filled-read-models.ts'
import { runs } from '../../support/runs.ts'

const test = suite('trace: which traces are found')

const COUNT = 8_000
const LIMIT = 51

const models = await openFilled()
const { rows, addTraces } = models
test.after(() => models.close())

const idOf = (n: number) => `00000000-0000-4000-8000-${n.toString().padStart(12, '0')}`
const [ada, eve, crowded, shop] = [1, 2, 3, 4].map(idOf) as [string, string, string, string]

const keyOf = async (name: string) => (await rows<{ key: string }>('select md5($1)::uuid as key', [name]))[0]!.key

/** What the statement has to find, said as it is meant: own, of a membership, else public, any; the oldest of each. */
const definition = `
  select t.id, m.role from traces t left join members m on m.namespace_id = t.namespace_id and m.user_id = $2
  where t.key = $3 and t.external_id = $4
  order by t.id is distinct from $1, m.user_id is null, m.user_id is null and t.visibility <> 'public', t.created_at, t.id
  limit 1`

const resolve = await models.prepare(resolveStatement)
const list = await models.prepare(listStatement('createdAt', { publicOnly: true }))
const resolveValues = async (name: string, user: string | null, own: string | null = null) => [
  own,
  user,
  await keyOf(name),
  name,
]
const firstPage = [shop, FAR_FUTURE.createdAt, FAR_FUTURE.id, LIMIT]

// Plans are kept: that of an empty table has to do for a full one.
await resolve(await resolveValues('shared', ada))
await list(firstPage)

// Two names that many namespaces use, of one a few are public; Ada belongs to ten of them, of Eve's there is one in none.
await addTraces(`
  select gen_random_uuid() as id, md5('n' || i)::uuid as namespace_id, name, ${COUNT} - i as created_at,
    case when name = 'open' and i % 1000 = 0 then 'public' else 'private' end as visibility
  from generate_series(1, ${COUNT}) i, (values ('shared'), ('open')) v (name)`)
await addTraces(`
  select gen_random_uuid() as id, '${crowded}'::uuid as namespace_id, 't' || i as name, i as created_at, 'private' as visibility
  from generate_series(1, ${COUNT}) i`)
await rows(
  `insert into members select gen_random_uuid(), gen_random_uuid(), 'admin', null, 0 from generate_series(1, ${COUNT})`,
)
await rows(`insert into members select md5('n' || i)::uuid, '${ada}', 'member', null, 0 from generate_series(1, 10) i`)
await rows(`insert into members values ('${crowded}', '${eve}', 'admin', null, 0)`)
// A namespace of private traces, with its few public ones behind them.
await rows(`
  insert into feed select gen_random_uuid(), '${shop}', i, case when i <= ${2 * LIMIT} then 'public' else 'private' end
  from generate_series(1, ${COUNT}) i`)
// Newer ones of others are public.
await rows(`
  insert into feed select gen_random_uuid(), gen_random_uuid(), ${COUNT} + i, 'public' from generate_series(1, ${COUNT}) i`)
await addTraces(`select id, namespace_id, id::text as name, created_at, visibility from feed`)

const asked = async () => {
  const [{ id: own }] = (await rows<{ id: string }>(
    `select id from traces where external_id = 'shared' order by created_at limit 1`,
  )) as [{ id: string }]
  return [
    await resolveValues('shared', null),
    await resolveValues('shared', ada),
    await resolveValues('shared', eve),
    await resolveValues('shared', ada, own),
    await resolveValues('open', null),
    await resolveValues('open', ada),
    await resolveValues('open', eve),
    await resolveValues('no such name', ada),
  ]
}

const look = async () => {
  for (const values of await asked()) {
    for (const plan of await resolve(values)) {
      assert.ok(mostRows(plan) <= 20, `${mostRows(plan)} rows for ${values}`)
      assert.ok(pagesOf(plan) <= 120, `${pagesOf(plan)} pages for ${values}`)
    }
  }
  for (const plan of await list(firstPage)) {
    assert.ok(mostRows(plan) <= LIMIT, `${mostRows(plan)} rows for ${LIMIT}`)
    assert.ok(pagesOf(plan) <= 20 * LIMIT, `${pagesOf(plan)} pages for ${LIMIT} rows`)
    assert.is(plan['Actual Rows'], LIMIT)
  }
}

test('no plan reads all rows, also one that was made for empty tables', look)

test('no plan of an analysed table reads all rows', async () => {
  await rows('analyze')
  await look()
  for (const values of await asked()) {
    const [found] = await rows<{ id: string; role: string | null }>(resolveStatement, values)
    const [expected] = await rows<{ id: string; role: string | null }>(definition, values)
    assert.equal(found && { id: found.id, role: found.role }, expected)
  }
})

test('of the traces in the caller’s other namespaces the oldest is found, public or not', async () => {
  const [name, user] = [randomUUID(), idOf(21)]
  const places = [
    { id: randomUUID(), visibility: 'public', createdAt: 2 },
    { id: randomUUID(), visibility: 'private', createdAt: 1 },
    { id: randomUUID(), visibility: 'direct', createdAt: 3 },
  ]
  for (const { id, visibility, createdAt } of places) {
    await addTraces(`select '${id}'::uuid as id, '${id}'::uuid as namespace_id, '${name}' as name,
      ${createdAt} as created_at, '${visibility}' as visibility`)
    await rows(`insert into members values ('${id}', '${user}', 'member', null, 0)`)
  }
  const [found] = await rows<{ id: string }>(resolveStatement, await resolveValues(name, user))
  assert.is(found?.id, places[1]!.id)
  const [others] = await rows<{ id: string }>(resolveStatement, await resolveValues(name, idOf(22)))
  assert.is(others?.id, places[0]!.id)
})

const traceOf = fc.record({
  isPublic: fc.boolean(),
  createdAt: fc.nat(2),
  roles: fc.array(fc.nat(2), { maxLength: 3 }),
})

test('the trace that comes first for the caller is found, for any placement of the traces with a name', async () => {
  const property = fc.asyncProperty(fc.array(traceOf, { maxLength: 6 }), fc.nat(7), async (traces, own) => {
    const name = randomUUID()
    const users = [idOf(11), idOf(12), idOf(13)]
    const there = traces.map((trace) => ({ ...trace, id: randomUUID(), namespaceId: randomUUID() }))
    for (const { id, namespaceId, isPublic, createdAt, roles } of there) {
      const visibility = isPublic ? 'public' : 'private'
      await addTraces(`select '${id}'::uuid as id, '${namespaceId}'::uuid as namespace_id, '${name}' as name,
        ${createdAt} as created_at, '${visibility}' as visibility`)
      for (const user of new Set(roles))
        await rows(`insert into members values ('${namespaceId}', '${users[user]}', 'member', null, 0)`)
    }
    for (const user of [null, ...users]) {
      const values = await resolveValues(name, user, there[own]?.id ?? null)
      const [found, ...more] = await rows<{ id: string; role: string | null }>(resolveStatement, values)
      const [expected] = await rows<{ id: string; role: string | null }>(definition, values)
      assert.equal(found && { id: found.id, role: found.role }, expected)
      assert.is(more.length, 0)
    }
  })
  await fc.assert(property, { numRuns: runs(12) })
})

test.run()
