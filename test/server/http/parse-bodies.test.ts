import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Unavailable } from '../../../src/eventstore/engine/rejected.ts'
import { consume, newBodyBytes, wholeOf } from '../../../src/server/http/body-bytes.ts'
import { newBodyThreads } from '../../../src/server/http/parse-bodies.ts'
import { HttpError } from '../../../src/server/http/http-error.ts'
import { read as readOnThread } from '../../../src/server/http/body-tasks.ts'
import { type BodyReader, knownMembers, parseBody } from '../../../src/server/http/json-body.ts'
import { readBatch } from '../../../src/server/trace/messages/body.ts'
import type { MessageUpsert } from '../../../src/server/trace/messages/message.ts'

const test = suite('http: threads that read large bodies')
const threads = newBodyThreads(console.error)
test.after(() => threads.close())

const bytesOf = (body: string | Uint8Array) => {
  const bytes = newBodyBytes(0)
  bytes.add(Buffer.from(body as string))
  return bytes.end()
}
/** Whitespace makes a body large, so that it goes to a thread. */
const large = (body: string) => body.padEnd(20_000)
const known = (...names: string[]): BodyReader<unknown> => ({
  read: knownMembers,
  module: new URL('../../../src/server/http/json-body.ts', import.meta.url),
  name: 'knownMembers',
  names,
})
const batch: BodyReader<readonly MessageUpsert[]> = {
  read: readBatch,
  module: new URL('../../../src/server/trace/messages/body.ts', import.meta.url),
  name: 'readBatch',
  isExact: true,
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('pieces hold the same bytes, however the chunks arrive', () => {
  const chunks = fc.array(fc.integer({ min: 0, max: 700_000 }), { maxLength: 5 })
  fc.assert(
    fc.property(chunks, fc.nat(2_000_000), (sizes, expected) => {
      const sent = sizes.map((size, i) => Buffer.alloc(size, i + 1))
      const bytes = newBodyBytes(expected)
      for (const chunk of sent) bytes.add(chunk)
      const { length, pieces } = bytes.end()
      assert.is(
        length,
        sizes.reduce((sum, size) => sum + size, 0),
      )
      assert.ok(Buffer.concat(pieces).equals(Buffer.concat(sent)))
    }),
    { numRuns: 30 },
  )
})

for (const [where, sized] of [
  ['here', (body: string) => body],
  ['on a thread', large],
] as const) {
  const read = (body: string, ...names: string[]) => threads.read(known(...names), bytesOf(sized(body)))

  test(`only the members that a route knows are returned: ${where}`, async () => {
    const body = JSON.stringify({ title: 'x', other: 'y', limit: 3 })
    assert.equal(await read(body, 'title', 'limit', 'toString'), { title: 'x', limit: 3 })
    assert.equal(await read('[1,2]'), [])
    assert.is(await read('null'), null)
  })

  test(`a member with thousands of values is refused: ${where}`, async () => {
    const error = await failure(read(`{"title":[${'0,'.repeat(2_000)}0]}`, 'title'))
    assert.ok(error instanceof HttpError && error.code === 'invalid_request')
    assert.equal(error.details, { formErrors: [], fieldErrors: { title: ['must not have more than 1000 values'] } })
  })
}

test('messages are the same as when the event loop reads them', async () => {
  const args = '{"b":[9007199254740993,-0],"0":1}'
  const call = `{"type":"tool_call","content":{"callId":"c","toolName":"Bash","args":${args}}}`
  const body = `{"messages":[{"externalId":"m","role":"assistant","order":-0,"parts":[${call},{"type":"text","content":{"text":"hi"}}]}]}`
  const read = await threads.read(batch, bytesOf(large(body)))
  assert.equal(read, readBatch(parseBody(body, true)))
  assert.ok(read[0]!.given.parts![0]!.json.includes(args))
})

for (const [what, body, issue] of [
  ['no JSON', large('{"messages":'), 'The body is not valid JSON: correct it'],
  ['no UTF-8', Buffer.alloc(20_000, 0xff), 'The encoded data was not valid for encoding utf-8'],
  [
    'too many values',
    `[${'0,'.repeat(200_000)}0]`,
    'The body has more than 200000 JSON values: send less in one request',
  ],
] as const) {
  test(`is refused as on the event loop: ${what}`, async () => {
    const error = await failure(threads.read(batch, bytesOf(body)))
    assert.ok(error instanceof HttpError && error.code === 'invalid_request')
    assert.equal(error.details, { formErrors: [issue], fieldErrors: {} })
  })
}

test('a task that fails does not blame the body', async () => {
  assert.instance(await failure(threads.read({ ...batch, name: 'none' }, bytesOf(large('{}')))), Unavailable)
})

test('bytes are joined for one use, and freed', () => {
  const text = 'x'.repeat(600_000)
  const bytes = bytesOf(text)
  const used = consume(bytes, (whole) => {
    assert.is(Buffer.from(whole).toString(), text)
    assert.ok(bytes.pieces.every(({ byteLength }) => byteLength === 0))
    return whole
  })
  assert.is(used.byteLength, 0)
})

test('a thread keeps no bytes of a body while it reads the text', async () => {
  const { pieces } = bytesOf('0'.padEnd(600_000))
  const module = new URL('support/left-bytes.ts', import.meta.url).href
  const input = { pieces, module, name: 'leftBytes', names: pieces as never }
  assert.equal(await readOnThread(input), { value: [0, 0, 0] })
})

test('the bytes are transferred, not copied', async () => {
  const bytes = bytesOf(JSON.stringify({ title: 'x'.repeat(600_000) }))
  assert.is(wholeOf(bytes).length, bytes.length)
  await threads.read(known(), bytes)
  assert.equal(
    bytes.pieces.map(({ byteLength }) => byteLength),
    bytes.pieces.map(() => 0),
  )
})

test.run()
