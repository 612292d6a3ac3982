import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batches, fits } from '../../../src/sync/upload/batches.ts'
import { batchBody } from '../../../src/sync/api/client.ts'
import { type Outgoing, outgoing } from '../../../src/sync/upload/encode.ts'

const test = suite('batches')

const messages = (...texts: readonly string[]): Outgoing[] =>
  texts.map((text, i) =>
    outgoing({ externalId: `${i}`, role: 'user', order: i, parts: [{ type: 'text', content: { text } }] }),
  )
const sizes = async (all: readonly Outgoing[]) =>
  (await Array.fromAsync(batches(stream(all)))).map((batch) => batch.length)
async function* stream<T>(items: readonly T[]) {
  yield* items
}
const bodyBytes = (batch: readonly Outgoing[]) => Buffer.byteLength(batchBody(batch.map(({ json }) => json)))

test('a batch holds at most 200 messages', async () => {
  assert.equal(await sizes(messages(...Array<string>(401).fill('x'))), [200, 200, 1])
  assert.equal(await sizes([]), [])
})

test('a batch stays within 1 MiB, counted in bytes', async () => {
  const all = messages(...Array<string>(10).fill('ü'.repeat(150_000)))
  const made = await Array.fromAsync(batches(stream(all)))
  assert.equal(
    made.map((batch) => batch.length),
    [3, 3, 3, 1],
  )
  assert.ok(made.every((batch) => bodyBytes(batch) <= 1 << 20))
})

test('a message over 1 MiB goes alone', async () => {
  assert.equal(await sizes(messages('a', 'x'.repeat(2 << 20), 'b')), [1, 1, 1])
})

test('what fits is exactly what the server takes', () => {
  const empty = bodyBytes(messages(''))
  const [most, more] = messages('x'.repeat((16 << 20) - empty), 'x'.repeat((16 << 20) - empty + 1))
  assert.is(bodyBytes([most!]), 16 << 20)
  assert.ok(fits(most!))
  assert.not(fits(more!))
})

test.run()
