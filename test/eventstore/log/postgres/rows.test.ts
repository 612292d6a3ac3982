import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewEvent } from '../../../../src/eventstore/log/log.ts'
import { decompressed } from '../../../../src/eventstore/log/postgres/body.ts'
import { newPendingAppend } from '../../../../src/eventstore/log/postgres/pending-append.ts'
import {
  ROW_BYTES,
  ROW_EVENTS,
  headAt,
  headsOf,
  recordsOf,
  rowsOf,
} from '../../../../src/eventstore/log/postgres/rows.ts'
import { anAppend, numbered } from '../support/events.ts'

const test = suite('rows of the Postgres log')

/** What is read of rows of an append that ends at a position and a revision. */
const readBack = async (events: readonly NewEvent[], end: bigint) => {
  let next = 0
  return (await rowsOf(events)).flatMap(({ count, heads, lengths, bytes, body }) => {
    const ids = `{${events.slice(next, (next += count)).map(({ id }) => id)}}`
    const last = end - BigInt(events.length - next)
    const row = { last, stream: 's', revision: last - 1n, ids, heads, lengths: `{${lengths}}` }
    return recordsOf(
      bytes === null ? { ...row, bytes, data: `${body}`, body: null } : { ...row, bytes, data: null, body },
    )
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
    times: fc.constantFrom(1, 1, 1, 500, 20_000),
  })
  .map(({ times, data, ...one }) => ({ ...one, data: data.repeat(times) }))

test('return the events byte for byte, in their order', () =>
  fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 30 }), async (events) => {
      const read = await readBack(events, 1_000n)
      assert.equal(
        read.map(({ id, type, metadata, data }) => ({ id, type, metadata, data })),
        events,
      )
      assert.is(read.at(-1)!.position, 1_000n)
      assert.is(read[0]!.revision, 1_000n - BigInt(events.length))
    }),
  ))

test('have the head of each event', () =>
  fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 30 }), async (events) => {
      const { heads } = (await rowsOf(events))[0]!
      for (const [place, head] of headsOf(heads).entries()) assert.equal(headAt(heads, place), head)
    }),
  ))

test('rows have one head for all events of an append that differ only in their number', async () => {
  const [row, ...others] = await rowsOf(numbered(200))
  assert.is(others.length, 0)
  assert.is((JSON.parse(row!.heads) as unknown[]).length, 1)
})

test('rows have at most 1,000 events and 128 KiB, unless one event has more', async () => {
  assert.equal(
    (await rowsOf(numbered(2 * ROW_EVENTS + 1))).map(({ count }) => count),
    [ROW_EVENTS, ROW_EVENTS, 1],
  )
  const large = numbered(4).map((one, i) => ({ ...one, data: i === 1 ? 'x'.repeat(2 * ROW_BYTES) : one.data }))
  assert.equal(
    (await rowsOf(large)).map(({ count }) => count),
    [1, 1, 2],
  )
})

test('data are compressed from 8 KiB on, and known to be damaged when they are', async () => {
  const size = async (...data: string[]) => (await rowsOf(anAppend(...data)))[0]!
  assert.is((await size('x'.repeat(8_191))).bytes, null)
  for (const letters of [8_192, 100_000]) {
    const { bytes, body } = await size('ä'.repeat(letters / 2 - 1), 'yz')
    assert.is(bytes, letters)
    assert.ok(body.length < 100)
    assert.is(`${decompressed(body, letters, 7n)}`, `${'ä'.repeat(letters / 2 - 1)}yz`)
    for (const [damaged, size] of [
      [body.with(20, body[20]! ^ 1), letters],
      [body.subarray(0, -3), letters],
      [body, letters - 1],
      [body, letters + 1],
      [Buffer.from('texts'), letters],
    ] as const)
      assert.throws(() => decompressed(Buffer.from(damaged), size, 7n), /row that ends at position 7 .* damaged/)
  }
})

test('events that cannot be stored leave no deadline behind, at which nobody would wait for an answer', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const events = [{ ...numbered(1)[0]!, data: 1 as unknown as string }]
  const what = { stream: 'a', expected: -1n, events }
  assert.throws(() => newPendingAppend(what, 60_000, { lastError: () => undefined, onSettled: () => {} }))
  assert.is(timers(), before)
})

test.run()
