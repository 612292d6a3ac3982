import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewEvent } from '../../../src/log/log.ts'
import {
  ROW_BYTES,
  ROW_EVENTS,
  headAt,
  headsOf,
  headsWithoutFirst,
  recordsOf,
  rowsOf,
} from '../../../src/log/postgres/rows.ts'
import { numbered } from '../support/events.ts'

const test = suite('rows of the Postgres log')

/** What is read of rows of an append that ends at a position and a revision. */
const readBack = (events: readonly NewEvent[], end: bigint) => {
  let last = end - BigInt(events.length)
  return rowsOf(events).flatMap(({ events, heads, lengths }) => {
    last += BigInt(events.length)
    const ids = `{${events.map(({ id }) => id).join()}}`
    const data = events.map(({ data }) => data).join('')
    return recordsOf({ last, stream: 's', revision: last - 1n, ids, heads, lengths: `{${lengths.join()}}`, data })
  })
}

const metadata = fc.oneof(
  fc
    .tuple(fc.nat(3), fc.integer({ min: -1, max: 1_000_000_001 }))
    .map(([at, index]) => JSON.stringify({ at, append: { id: 'a', index, size: 9 } })),
  fc.json(),
  fc.constantFrom('{"index":01}', '{"index":1e3}', '"index":', '{"index":""}', '{"index":1.5}', ''),
)
const event = fc
  .record({
    id: fc.uuid(),
    type: fc.constantFrom('A', 'B', '"'),
    metadata,
    data: fc.oneof(fc.json(), fc.string({ unit: 'grapheme' }), fc.constant('')),
  })
  .map((one) => ({ ...one }))

test('return the events byte for byte, in their order', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (events) => {
      const read = readBack(events, 1_000n)
      assert.equal(
        read.map(({ id, type, metadata, data }) => ({ id, type, metadata, data })),
        events,
      )
      assert.is(read.at(-1)!.position, 1_000n)
      assert.is(read[0]!.revision, 1_000n - BigInt(events.length))
    }),
  )
})

test('rows may lose their first events', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), fc.nat(30), (events, count) => {
      const { heads } = rowsOf(events)[0]!
      assert.equal(headsOf(headsWithoutFirst(heads, count)), headsOf(heads).slice(count))
      for (const [place, head] of headsOf(heads).entries()) assert.equal(headAt(heads, place), head)
    }),
  )
})

test('rows have one head for all events of an append that differ only in their number', () => {
  const [row, ...others] = rowsOf(numbered(200))
  assert.is(others.length, 0)
  assert.is((JSON.parse(row!.heads) as unknown[]).length, 1)
})

test('rows are no larger than a page, unless one event is', () => {
  assert.equal(
    rowsOf(numbered(2 * ROW_EVENTS + 1)).map(({ events }) => events.length),
    [ROW_EVENTS, ROW_EVENTS, 1],
  )
  const large = numbered(4).map((one, i) => ({ ...one, data: i === 1 ? 'x'.repeat(2 * ROW_BYTES) : one.data }))
  assert.equal(
    rowsOf(large).map(({ events }) => events.length),
    [1, 1, 2],
  )
})

test.run()
