import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../../projections/index.ts'
import { type Difference, compareSchemas, quarantinedInEither } from '../../../src/eventstore/engine/compare-schemas.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { withReplica } from '../../../src/eventstore/engine/rebuild.ts'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('engine: read models compared with a replica')
const live = schemaOf(mainGroup)
const { database, node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const { url } = database
const { log, codec } = node.service
const { ask, send } = await signIn(node)

const put = (path: string, body: object = {}) => send('PUT', `/v1/traces/${path}`, body)

/** Compares at one position; `before` runs once the replica is built, `at` when both stand still. */
const compared = async ({
  before = async () => {},
  at = async () => {},
}: { before?: () => Promise<unknown>; at?: () => Promise<unknown> } = {}) => {
  const client = newClient(url, 'test')
  await client.connect()
  const found: Difference[] = []
  try {
    await withReplica({ url, group: mainGroup, log, codec }, async ({ schema: replica, atSamePosition }) => {
      await before()
      await atSamePosition(async () => {
        await client.query('begin isolation level repeatable read read only')
        await client.query('select 1 from pg_class limit 1')
      })
      await at()
      const quarantined = await quarantinedInEither(client, { live, replica })
      for await (const one of compareSchemas({ client, group: mainGroup, live, replica, quarantined })) found.push(one)
      await client.query('rollback') // else it would keep the replica from being dropped
    })
  } finally {
    await client.end()
  }
  return found
}

const sql = async (text: string, values: unknown[] = []) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

test('are equal while writers write, because later events do not count', async () => {
  let over = false
  const writing = (async () => {
    for (let i = 0; !over; i++) {
      await put(`t${i % 7}`, { title: `\0 ${i}` })
      await put(`t${i % 7}/messages/m${i % 5}`, { role: 'user', parts: [{ type: 'text', content: { text: `${i}` } }] })
      if (i % 6 === 0) await ask('DELETE', `/v1/traces/t${i % 7}`)
    }
  })()
  const around = { before: () => put('t1', { title: 'x' }), at: () => put('t1', { title: 'y' }) }
  const differences = await compared(around).finally(() => {
    over = true
    return writing
  })
  assert.equal(differences, [])
})

test('a changed, a missing and an extra row are named, each with its table and key', async () => {
  await put('a', { title: 'A' })
  await put('b', { title: 'B' })
  await put('a/messages/m', { role: 'user', parts: [{ type: 'text', content: { text: 'x' } }] })
  const [{ id: a }, { id: b }] = (await sql(`select id from ${live}.traces where external_id in ('a', 'b') order by external_id`)) as [{ id: string }, { id: string }] // prettier-ignore
  const extra = '00000000-0000-4000-8000-000000000001'
  await sql(`update ${live}.traces set title = '"tampered"', visibility = 'public' where id = $1`, [a])
  await sql(`update ${live}.message_blocks set body = 'x' where trace_id = $1`, [a])
  await sql(`delete from ${live}.feed where id = $1`, [b])
  await sql(`insert into ${live}.users values ($1, null)`, [extra])
  await sql(`create table ${live}.more (x int primary key)`)
  try {
    const found = await compared()
    const incarnation = found.find(({ table }) => table === 'message_blocks')!.key!['incarnation']
    assert.equal(found, [
      { table: 'feed', kind: 'missing', key: { id: b } },
      {
        table: 'message_blocks',
        kind: 'different',
        key: { trace_id: a, incarnation, revision: (incarnation as number) + 1 },
        columns: ['body'],
      },
      { table: 'more', kind: 'table extra' },
      { table: 'traces', kind: 'different', key: { id: a }, columns: ['visibility', 'title'] },
      { table: 'users', kind: 'extra', key: { id: extra } },
    ])
  } finally {
    await sql(`drop table ${live}.more`)
  }
  await withReplica({ url, group: mainGroup, log, codec }, ({ swap }) => swap())
  assert.equal(await compared(), [])
})

test('no replica is left behind', async () => {
  const left = await sql(`select nspname from pg_namespace where nspname like $1 || '_%'`, [live])
  assert.equal(left, [])
})

test.run()
