import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { sweepObsoleteRows } from '../../projections/obsolete-rows.ts'
import { newClient } from '../../src/eventstore/postgres/connect.ts'
import { headOfParts } from '../../src/server/trace/messages/heads.ts'
import type { MessageHead } from '../../src/server/trace/messages/loaded.ts'
import { storedPart } from '../../src/server/trace/messages/part.ts'
import { toUpsert } from '../../src/server/trace/messages/message.ts'
import { freshDatabase } from '../support/database.ts'
import { openEngine } from '../support/engine.ts'
import { take } from '../server/trace/steps.ts'

const schema = schemaOf(mainGroup)

const test = suite('projections/obsolete-rows')

const MESSAGES = 1_200
const put = { do: 'put', title: 't', visibility: undefined } as const

const database = await freshDatabase()
const engine = openEngine(database.url)
const client = newClient(database.url, 'test')
await client.connect()
test.after(async () => {
  await client.end()
  await engine.close()
  await database.drop()
})

/** Messages of two parts each, changed once, under the same names and ids in every incarnation of a trace. */
const write = async (id: string, namespaceId: string, count: number, text: string) => {
  for (let from = 0; from < count; from += 200) {
    const names = Array.from({ length: Math.min(200, count - from) }, (_, i) => `m${from + i}`)
    for (const one of ['first', text]) {
      const parts = [one, one].map((each) => ({ type: 'text' as const, content: { text: each } }))
      const upserts = names.map((name) => toUpsert(name, { role: 'user', parts }))
      await take(engine, id, namespaceId, { do: 'write', upserts })
    }
  }
}

const count = async (id: string, table: string): Promise<number> =>
  Number((await client.query(`select count(*) as n from ${schema}.${table} where trace_id = $1`, [id])).rows[0].n)

const tables = ['messages', 'message_blocks', 'message_parts', 'obsolete_rows']
const counts = async (id: string) => Promise.all(tables.map((table) => count(id, table)))

test('rows of a deleted trace are swept in chunks, those of the trace recreated under its id stay', async () => {
  const [id, namespaceId] = [randomUUID(), randomUUID()]
  await take(engine, id, namespaceId, put)
  await write(id, namespaceId, MESSAGES, 'old')
  await take(engine, id, namespaceId, { do: 'delete' })
  await take(engine, id, namespaceId, put)
  await write(id, namespaceId, 3, 'new')
  let before = await counts(id)
  assert.equal(before, [MESSAGES + 3, MESSAGES / 100 + 1, 2 * MESSAGES + 6, 1])
  while (await sweepObsoleteRows(client, schema, `trace-${id}`)) {
    const after = await counts(id)
    const gone = before.map((n, i) => n - after[i]!)
    assert.ok(Math.max(...gone) <= 500 && gone.filter((n) => n > 0).length === 1, `${gone}`)
    before = after
  }
  assert.equal(before, [3, 1, 6, 0])
  const loaded = await engine.source.load(id, [new Map([['m0', undefined]])], 0n)
  const part = storedPart({ type: 'text', content: { text: 'new' } })
  assert.equal((loaded.state.messages.find('m0') as MessageHead).parts, headOfParts([part, part]))
})

test('a trace that is deleted again while its rows are being swept is swept again', async () => {
  const [id, namespaceId] = [randomUUID(), randomUUID()]
  await take(engine, id, namespaceId, put)
  await write(id, namespaceId, 2, 'old')
  await take(engine, id, namespaceId, { do: 'delete' })
  await sweepObsoleteRows(client, schema)
  await take(engine, id, namespaceId, put)
  await write(id, namespaceId, 2, 'older')
  await take(engine, id, namespaceId, { do: 'delete' })
  assert.equal(await counts(id), [4, 2, 4, 1])
  while (await sweepObsoleteRows(client, schema));
  assert.equal(await counts(id), [0, 0, 0, 0])
})

test('a chunk has only a few rows with long values', async () => {
  const id = randomUUID()
  await client.query(`insert into ${schema}.obsolete_rows values ($1, 1)`, [id])
  const rows = 'select $1::uuid, 0, i, i'
  const from = `from generate_series(1, 5) i`
  await client.query(`insert into ${schema}.message_blocks ${rows}, decode(repeat('00', 7000000), 'hex') ${from}`, [id])
  await client.query(`insert into ${schema}.message_parts ${rows}, '', to_json(repeat('x', 7000000)) ${from}`, [id])
  const seen: number[][] = []
  while (await sweepObsoleteRows(client, schema, `trace-${id}`)) seen.push(await counts(id))
  assert.equal(seen, [
    [0, 5, 2, 1],
    [0, 5, 0, 1],
    [0, 2, 0, 1],
    [0, 0, 0, 1],
    [0, 0, 0, 0],
  ])
})

test.run()
