import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('http: bodies that are cheap to send and expensive to read')
const { node } = await openWorld(test)
const { app } = node
const user = await signIn(node)
await user.newTrace({}, [], 't')

const send = async (method: 'POST' | 'PUT', path: string, payload: string) => {
  const headers = { ...user.headers, 'content-type': 'application/json' }
  const { statusCode, body } = await app.inject({ method, url: `/v1/traces/t/messages/${path}`, headers, payload })
  return { status: statusCode, details: JSON.stringify(JSON.parse(body).error?.details ?? {}) }
}

const part = '{"type":"thinking"}'
const parts = (count: number, one = part) => `"parts":[${Array<string>(count).fill(one).join(',')}]`
const put = (count: number, one?: string) => send('PUT', 'm', `{"role":"user",${parts(count, one)}}`)
const batch = (messages: readonly string[]) => send('POST', 'batch', `{"messages":[${messages.join(',')}]}`)
const message = (name: string, count: number) => `{"externalId":"${name}","role":"user",${parts(count)}}`

test('a message has at most 2,000 parts', async () => {
  assert.is((await put(2_000)).status, 200)
  const { status, details } = await put(2_001, '{"type":"none"}') // nothing else is looked at
  assert.is(status, 400)
  assert.is(details, '{"formErrors":[],"fieldErrors":{"parts":["at most 2000 parts in a message, but it has 2001"]}}')
  assert.match((await batch([message('m', 2_001)])).details, 'at most 2000 parts in a message')
})

test('a batch has at most 20,000 parts', async () => {
  const full = Array.from({ length: 10 }, (_, i) => message(`m${i}`, 2_000))
  assert.is((await batch(full)).status, 200)
  const { status, details } = await batch([...full, message('one more', 1)])
  assert.is(status, 400)
  assert.match(details, 'at most 20000 parts in a batch')
})

const withArgs = (values: number) =>
  `{"role":"user","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":{"a":[${Array(values).fill(0).join()}]}}}]}`
/** What else there is: the body, role, parts, the part, type, content, callId, toolName, args, a. */
const OTHERS = 10

test('a body has at most 200,000 values', async () => {
  assert.is((await send('PUT', 'm', withArgs(200_000 - OTHERS))).status, 200)
  const { status, details } = await send('PUT', 'm', withArgs(200_000 - OTHERS + 1))
  assert.is(status, 400)
  assert.match(details, 'more than 200000 JSON values')
})

test('sixteen megabytes of empty values are refused without being parsed', async () => {
  const { status, details } = await batch(Array<string>(5_000_000).fill('{}'))
  assert.is(status, 400)
  assert.match(details, 'more than 200000 JSON values')
})

test('an answer has the first twenty issues', async () => {
  const { status, details } = await batch(Array<string>(200).fill(`{"externalId":1,${parts(50, '{"type":"none"}')}}`))
  assert.is(status, 400)
  assert.is(JSON.parse(details).fieldErrors.messages.length, 20)
})

test.run()
