import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { lenient, meantMessage } from '../../../src/server/mcp/meant.ts'

const test = suite('arguments as clients send them')

const input = z.object({
  session: z.string().min(1),
  query: z.string(),
  limit: z.int().min(1).max(40).default(10),
  cursor: z.string().optional(),
})
const read = (given: unknown) => lenient(input).safeParse(given).data

test('null and an empty text stand for what was left out, and a number may be a text', () => {
  const whole = { session: '5', query: '', limit: 10 }
  assert.equal(
    read({ session: '5', query: '', limit: null, cursor: null }),
    whole,
    'a text that looks like a number stays one',
  )
  assert.equal(read({ session: '5', query: '', cursor: '', limit: '2' }), { ...whole, limit: 2 })
  assert.equal(read({ session: '5', query: '', other: 'x', another: null }), whole)
})

test('what is not meant to be anything else is refused', () => {
  for (const given of [null, 'x', [], { session: '', query: '' }, { session: 's' }])
    assert.is(read(given), undefined, JSON.stringify(given))
  for (const limit of ['many', '2.5', '41', true])
    assert.is(read({ session: 's', query: '', limit }), undefined, String(limit))
})

test('the JSON Schema is that of the arguments themselves', () => {
  const io = 'input'
  assert.equal(z.toJSONSchema(lenient(input), { io }), z.toJSONSchema(input, { io }))
})

test('a call may have null for its arguments', () => {
  const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'list_sessions' } }
  assert.equal(meantMessage({ ...call, params: { ...call.params, arguments: null } }), call)
  for (const other of [
    call,
    null,
    undefined,
    5,
    { params: 'x' },
    { params: null },
    { params: { arguments: { a: null } } },
  ])
    assert.is(meantMessage(other), other)
})

test.run()
