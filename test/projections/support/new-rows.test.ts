import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newRows } from '../../../projections/support/new-rows.ts'

type Row = { readonly key: string; readonly of: string }

/** Rows that count how often a key was worked out. */
const counting = () => {
  const count = { keys: 0 }
  const rows = newRows<Row>(({ key }) => {
    count.keys += 1
    return key
  })
  return { rows, count }
}

test('rows stay in order, without those that were removed', () => {
  const { rows } = counting()
  for (const key of ['a', 'b', 'c', 'd']) rows.add({ key, of: key < 'c' ? 'x' : 'y' })
  rows.remove(rows.find('c')!)
  assert.is(rows.find('c'), undefined)
  rows.removeAll(({ of }) => of === 'x')
  assert.equal([rows.find('a'), rows.all()], [undefined, [{ key: 'd', of: 'y' }]])
  for (const key of ['c', 'a']) rows.add({ key, of: 'z' })
  assert.is(rows.find('a')!.of, 'z')
  assert.equal(
    rows.all().map(({ key }) => key),
    ['d', 'c', 'a'],
  )
})

test('no key is worked out when nobody asks for one', () => {
  const { rows, count } = counting()
  for (let i = 0; i < 10; i++) rows.add({ key: `${i}`, of: 'x' })
  rows.removeAll(() => false)
  assert.is(rows.all().length, 10)
  assert.is(count.keys, 0)
})

test('to remove many rows one by one costs a few keys for each', () => {
  const { rows, count } = counting()
  for (let i = 0; i < 2_000; i++) rows.add({ key: `${i}`, of: 'x' })
  for (let i = 0; i < 2_000; i++) rows.remove(rows.find(`${i}`)!)
  assert.equal(rows.all(), [])
  assert.ok(count.keys <= 3 * 2_000, `${count.keys} keys`)
})

test.run()
