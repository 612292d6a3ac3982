import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { type FilteredList, MOST_LOOKED_AT } from '../../../src/server/search/filtered-lists.ts'
import { filteredSessions, readListFilter } from '../../../src/server/search/list-filter.ts'
import { onServer } from '../../support/database.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('search: filters of lists')
const { node, database } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const me = await signIn(node, 'me')
const { service } = node
const now = Date.now()

await me.newTrace({ projectName: 'first' }, [], 'made')
const namespaceId = (await service.reads.rows<{ id: string }>('', 'select namespace_id as id from traces'))[0]!.id

/** Sessions that began and were changed in each minute after 1970, of which every thousandth has a rare project. */
const COUNT = 2 * MOST_LOOKED_AT + 300
await onServer(
  database.url,
  `set search_path = ${schemaOf(mainGroup)};
  insert into traces (id, namespace_id, external_id, key, created_by, created_at, updated_at, started_at, visibility, agent_id, bytes,
    incarnation, revision, at, project_name)
  select gen_random_uuid(), '${namespaceId}', 't' || i, md5(i::text)::uuid, '${me.userId}', i * 60000, i * 60000, i * 60000, 'public',
    '"codex"', 0, 0, 0, 0, case when i % 1000 = 0 then '"rare"' else '"usual"' end::json from generate_series(1, ${COUNT}) i;
  insert into feed select id, namespace_id, created_at, visibility from traces on conflict do nothing`,
)

const lists: readonly FilteredList[] = [
  { of: 'everybody' },
  ...(['startedAt', 'updatedAt'] as const).flatMap((sort): FilteredList[] => [
    { of: 'namespace', id: namespaceId, which: { kind: 'public' }, sort },
    { of: 'namespace', id: namespaceId, which: { kind: 'all', member: me.userId }, sort },
    { of: 'namespace', id: namespaceId, which: { kind: 'authored', member: me.userId }, sort },
  ]),
]
const nameOf = (list: FilteredList) => (list.of === 'everybody' ? 'everybody' : `${list.which.kind} ${list.sort}`)

const pages = async (list: FilteredList, q: string, limit: number) => {
  const filter = readListFilter(q, { now, zone: 'UTC' })
  const found: { readonly ids: string[]; readonly isCutShort: boolean; readonly unknown: number }[] = []
  for (let cursor: string | undefined; ;) {
    const page = await filteredSessions(service, list, filter, { limit, cursor })
    const ids = page.traces.map(({ externalId }) => externalId)
    found.push({ ids, isCutShort: page.isCutShort, unknown: page.unknown.length })
    cursor = page.nextCursor
    if (cursor === undefined) return found
  }
}
const named = (...minutes: readonly number[]) => minutes.map((minute) => `t${minute}`)

for (const list of lists) {
  const name = nameOf(list)
  // The trace that was made by a request is the newest of the lists that have it, and has another project.
  const first = name.startsWith('public') || name === 'everybody' ? 0 : 1

  test(`${name}: a page looks at so many sessions, and the next one goes on with older ones`, async () => {
    const found = await pages(list, 'project:RARE', 50)
    assert.equal(
      found.map(({ isCutShort }) => isCutShort),
      [true, true, false],
    )
    assert.equal(
      found.map(({ ids }) => ids),
      [named(10_000, 9_000, 8_000, 7_000, 6_000), named(5_000, 4_000, 3_000, 2_000, 1_000), []],
    )
    const none = await pages(list, 'project:first', 50)
    assert.equal(
      none.map(({ ids, unknown }) => [ids.length, unknown]),
      first === 1 ? [[1, 0], [0, 1], [0, 1]] : [[0, 1], [0, 1], [0, 1]], // prettier-ignore
    )
  })

  test(`${name}: no session is lost or repeated between pages`, async () => {
    const found = await pages(list, 'project:rare', 2)
    assert.equal(
      found.flatMap(({ ids }) => ids),
      named(...Array.from({ length: 10 }, (_, i) => 1_000 * (10 - i))),
    )
    for (const { ids } of found) assert.ok(ids.length <= 2)
  })

  test(`${name}: with a first time nothing older is looked at`, async () => {
    const from = new Date(9_500 * 60_000).toISOString()
    const found = await pages(list, `since:${from} project:rare`, 50)
    assert.equal(found, [{ ids: named(10_000), isCutShort: false, unknown: 0 }])
    const until = new Date(3_000 * 60_000).toISOString()
    assert.equal(
      (await pages(list, `to:${until} project:rare`, 50)).flatMap(({ ids }) => ids),
      named(3_000, 2_000, 1_000),
    )
  })
}

test('no filter is a failure', async () => {
  for (const q of [
    ...['from:0', 'to:0', 'from:8640000000000000', 'to:8640000000000000', 'since:9999w', 'from:-1', 'from:1e300'],
    ...[
      'project:"\0"',
      'project:\ud83d',
      'author:x',
      'namespace:"a b"',
      'namespace:%',
      'agent:\\u0000',
      'OR',
      '-',
      ':',
    ],
    `project:${'x'.repeat(390)}`,
  ])
    for (const list of lists) {
      const page = await filteredSessions(service, list, readListFilter(q, { now, zone: 'UTC' }), {
        limit: 1,
        cursor: undefined,
      })
      assert.ok(page.traces.length <= 1, q)
    }
})

test.run()
