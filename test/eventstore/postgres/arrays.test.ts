import fc from 'fast-check'
import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { bools, float8s, int4s, int8s, jsons, texts, uuids } from '../../../src/eventstore/postgres/arrays.ts'
import { newPool } from '../../../src/eventstore/postgres/connect.ts'
import { type Database, freshDatabase } from '../../support/database.ts'

const test = suite<{ database: Database; pool: pg.Pool }>('binary arrays')

test.before(async (context) => {
  context.database = await freshDatabase()
  context.pool = newPool({ url: context.database.url, name: 'test', max: 2 })
})
test.after(async ({ database, pool }) => {
  await pool.end()
  await database.drop()
})

const edges = (...values: bigint[]) =>
  fc.oneof(fc.constantFrom(...values), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
const wellFormed = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))
const json = fc.oneof(
  fc.json().map((text) => ` ${text}\n`),
  fc.constantFrom(String.raw`"\u0000\ud800"`, '9007199254740993', '{"__proto__":1,"b":1.0,"a":2}', '""'),
)

/** The type in Postgres, how its array is written, values of it, and how they look as text. */
const kinds = {
  text: [texts, wellFormed, String],
  json: [jsons, json, String],
  uuid: [uuids, fc.uuid(), String],
  int8: [int8s, edges(0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 32n), String],
  int4: [int4s, fc.oneof(fc.integer(), fc.constantFrom(2 ** 31 - 1, -(2 ** 31), 0, -1)), String],
  bool: [bools, fc.boolean(), String],
  float8: [float8s, fc.double(), (value: number) => (Object.is(value, -0) ? '-0' : value)],
} as const

const read = async <Value>(pool: pg.Pool, type: string, values: Buffer) => {
  const text = `select array_agg(value::text order by place) as texts from unnest($1::${type}[]) with ordinality v(value, place)`
  const { rows } = await pool.query<{ texts: (string | null)[] | null }>(text, [values])
  return (rows[0]!.texts ?? []) as Value[]
}

type Kind = readonly [(values: readonly unknown[]) => Buffer, fc.Arbitrary<unknown>, (value: never) => unknown]

for (const [type, kind] of Object.entries(kinds)) {
  const [write, value, show] = kind as unknown as Kind
  test(`${type}: any list of values is read as it was written, also nulls and an empty list`, async ({ pool }) => {
    const list = fc.array(fc.option(value, { freq: 5 }), { maxLength: 40 })
    const property = async (values: unknown[]) => {
      const found = await read<string | null>(pool, type, write(values))
      const back = type === 'float8' ? found.map((text) => text && show(Number(text) as never)) : found
      assert.equal(
        back,
        values.map((each) => (each === null ? null : show(each as never))),
      )
    }
    await fc.assert(fc.asyncProperty(list, property), { numRuns: 60, examples: [[[]], [[null]]] })
  })
}

test('undefined is written as null', async ({ pool }) => {
  assert.equal(await read(pool, 'text', texts(['a', undefined, ''])), ['a', null, ''])
  assert.equal(await read(pool, 'int8', int8s([1, undefined, 2n])), ['1', null, '2'])
})

test('large bodies are written', async ({ pool }) => {
  const body = JSON.stringify('ä€𝄞'.repeat(2_000_000))
  const text = 'select md5(v::text) as a, length(v::text)::int as b from unnest($1::json[]) v'
  const { rows } = await pool.query(text, [jsons([body, body])])
  assert.equal(
    rows.map(({ b }) => b),
    [6_000_002, 6_000_002],
  )
  assert.is(rows[0].a, rows[1].a)
})

test('a value of the wrong type is refused before it is sent', () => {
  assert.throws(() => uuids(['0192f0a0-0000-7000-8000-00000000000']), RangeError)
  assert.throws(() => uuids(['zzzzzzzz-0000-7000-8000-000000000001']), RangeError)
  assert.throws(() => int4s([2 ** 31]))
  assert.throws(() => int8s([2n ** 63n]))
  assert.throws(() => texts([1 as unknown as string]))
})

test.run()
