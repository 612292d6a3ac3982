import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type RowOf, tableOf } from '../../src/tables/table.ts'
import { newClient } from '../../src/eventstore/postgres/connect.ts'
import { freshDatabase } from '../support/database.ts'

const test = suite('tables/table')

const database = await freshDatabase()
const client = newClient(database.url, 'test')
await client.connect()
test.after(async () => {
  await client.end()
  await database.drop()
})

const table = tableOf(
  'things',
  {
    owner: 'uuid not null',
    name: 'text collate "C" not null',
    note: 'json',
    size: 'int8 not null default 7',
    place: 'int4',
    weight: 'float8',
    is_new: 'bool',
  },
  { constraint: 'primary key (owner, name)', storage: 'fillfactor = 70' },
)

type Thing = { readonly name: string; readonly note?: string; readonly place?: number }
const owner = '01000000-0000-7000-8000-000000000000'
const key = { owner: () => owner, name: ({ name }: Thing) => name }
const things: Thing[] = [{ name: 'a', note: '"x"', place: 1 }, { name: 'b' }]

test('a missing value is reported before the statement is sent', () => {
  const inserted = table.unnest<Partial<Thing>>({
    owner: () => owner,
    name: ({ name }) => name,
    note: ({ note }) => note,
  })
  assert.throws(() => inserted.values([{ name: 'a' }, { note: '"secret"' }]), /^things\.name has no value$/)
  const updated = table.unnest<Partial<Thing>>({ owner: () => owner, name: ({ name }) => name }, ['name'])
  assert.is(updated.values([{}]).length, 2)
  table.assertHolds('note', null)
  assert.throws(() => table.assertHolds('size', null), /size has no value/)
})

test('the table is created from the list of columns', () => {
  assert.is(
    table.create,
    'create table things (owner uuid not null, name text collate "C" not null, note json, size int8 not null default 7, ' +
      'place int4, weight float8, is_new bool, primary key (owner, name)) with (fillfactor = 70);',
  )
  assert.is(tableOf('bare', { id: 'uuid primary key' }).create, 'create table bare (id uuid primary key);')
})

test('rows are inserted, found and updated by some of the columns, in any order', async () => {
  await client.query(table.create)
  const inserted = table.unnest<Thing>({ place: ({ place }) => place, ...key, note: ({ note }) => note })
  await client.query(inserted.insert, inserted.values(things))
  const updated = table.unnest<Thing>({ ...key, weight: () => 0.5, is_new: () => true, size: () => 8n })
  await client.query(
    `update things t set weight = u.weight, is_new = u.is_new, size = t.size + u.size from ${updated.as('u')}
     where t.owner = u.owner and t.name = u.name`,
    updated.values(things.slice(0, 1)),
  )
  const { rows } = await client.query<RowOf<typeof table>>('select * from things order by name')
  const expected: RowOf<typeof table>[] = [
    { owner, name: 'a', note: '"x"', size: 15n, place: 1, weight: 0.5, is_new: true },
    { owner, name: 'b', note: null, size: 7n, place: null, weight: null, is_new: null },
  ]
  assert.equal(rows, expected)
})

test('a value of the wrong type for a column does not compile', () => {
  // @ts-expect-error: not a column
  assert.throws(() => table.unnest<Thing>({ colour: () => 'red' }))
  // @ts-expect-error: not of its type
  table.unnest<Thing>({ place: () => 'first' })
  // @ts-expect-error: null only where the column may be null
  const row: RowOf<typeof table> = { owner, name: null, note: null, size: 1n, place: 1, weight: 1, is_new: null }
  assert.is(row.name, null)
  // @ts-expect-error: not a type of PostgreSQL that rows are written with
  tableOf('others', { id: 'serial' })
})

test.run()
