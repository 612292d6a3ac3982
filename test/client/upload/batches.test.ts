import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toBatches, fitsInBatch } from '../../../src/client/upload/batches.ts'
import { batchJson } from '../../../src/client/api/client.ts'
import { type EncodedMessage, encodeMessage } from '../../../src/client/upload/encode.ts'

const test = suite('batches')

const messages = (...texts: readonly string[]): EncodedMessage[] =>
  texts.map((text, i) =>
    encodeMessage({ externalId: `${i}`, role: 'user', order: i, parts: [{ type: 'text', content: { text } }] }),
  )
const sizes = async (all: readonly EncodedMessage[]) =>
  (await Array.fromAsync(toBatches(stream(all)))).map((batch) => batch.length)
async function* stream<T>(items: readonly T[]) {
  yield* items
}
const bodyBytes = (batch: readonly EncodedMessage[]) => Buffer.byteLength(batchJson(batch.map(({ json }) => json)))

test('a batch holds at most 200 messages', async () => {
  assert.equal(await sizes(messages(...Array<string>(401).fill('x'))), [200, 200, 1])
  assert.equal(await sizes([]), [])
})

test('a batch stays within 1 MiB, counted in bytes', async () => {
  const all = messages(...Array<string>(10).fill('ü'.repeat(150_000)))
  const made = await Array.fromAsync(toBatches(stream(all)))
  assert.equal(
    made.map((batch) => batch.length),
    [3, 3, 3, 1],
  )
  assert.ok(made.every((batch) => bodyBytes(batch) <= 1 << 20))
})

test('a message over 1 MiB has a batch of its own', async () => {
  assert.equal(await sizes(messages('a', 'x'.repeat(2 << 20), 'b')), [1, 1, 1])
})

test('a message fits if and only if the server accepts its size', () => {
  const empty = bodyBytes(messages(''))
  const [most, more] = messages('x'.repeat((16 << 20) - empty), 'x'.repeat((16 << 20) - empty + 1))
  assert.is(bodyBytes([most!]), 16 << 20)
  assert.ok(fitsInBatch(most!))
  assert.not(fitsInBatch(more!))
})

test.run()
