import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Message } from '../../../../src/contract/message.ts'
import type { Usage } from '../../../../src/contract/usage.ts'
import { bodyOf } from '../../../support/world.ts'
import { openHistory } from '../../history/support.ts'

const test = suite('trace/messages: what an answer has used')

const { node, user } = await openHistory(test)
/** Sends a body as it is, which `JSON.stringify` would change. */
const put = (url: string, payload: string) => {
  const headers = { ...user.headers, 'content-type': 'application/json' }
  return bodyOf(node.app.inject({ method: 'PUT', url, headers, payload }))
}

const whole: Usage = {
  inputTokens: 1_001,
  outputTokens: 61,
  cacheReadTokens: 2_001,
  cacheWriteTokens: 301,
  reasoningTokens: 11,
  costUsd: 0.012_5,
  responseId: 'msg_1',
}

const newTrace = async () => {
  const { url } = await user.newTrace({ title: 'Usage' })
  const write = async (usage: unknown, more: object = {}) => {
    const body = { role: 'assistant', textContent: 'hi', ...(usage === undefined ? {} : { usage }), ...more }
    const { status, data, error } = await user.ask('PUT', `${url}/messages/m`, body)
    const details = error as unknown as { details: { fieldErrors: object } }
    return { status, data: data as { message: Message }, error: details }
  }
  const get = <T>(path: string) => user.send<T>('GET', `${url}${path}`)
  const message = async (query = '') => (await get<{ messages: Message[] }>(`/messages?${query}`)).messages[0]!
  const trace = async () => (await get<{ trace: { updatedAt: number; revision: number } }>('')).trace
  return { url, write, get, message, trace }
}

test('a message has the usage that was written last, as a whole', async () => {
  const { write, message } = await newTrace()
  assert.equal((await write(whole)).data.message.usage, whole)
  assert.equal((await message()).usage, whole)
  assert.equal((await write({ outputTokens: 2 })).data.message.usage, { outputTokens: 2 })
  assert.equal((await write(undefined)).data.message.usage, { outputTokens: 2 }, 'a write without it keeps it')
  assert.equal((await message()).usage, { outputTokens: 2 })
})

test('the same usage again changes nothing, in whatever order its members are', async () => {
  const { url, write } = await newTrace()
  await write(whole)
  const revision = async () => (await user.send<{ revision: number }>('GET', `${url}/messages`)).revision
  const before = await revision()
  await write(Object.fromEntries(Object.entries(whole).reverse()))
  node.service.traces.clear() // so that the message is known by its row
  await write({ ...whole, unknown: 1 })
  assert.is(await revision(), before)
})

test('a usage that cannot be is refused, and what is wrong is said', async () => {
  const { write, message } = await newTrace()
  await write(whole)
  const refused = [
    {},
    { unknown: 1 },
    { inputTokens: -1 },
    { inputTokens: 1.5 },
    { inputTokens: '1' },
    { inputTokens: 2 ** 53 },
    { costUsd: -0.1 },
    { costUsd: '1' },
    { responseId: '' },
    { responseId: 'x'.repeat(201) },
    { responseId: 'a\0b' },
    { responseId: '\ud800' },
    [],
    'none',
    null,
  ]
  for (const usage of refused) {
    const { status, error } = await write(usage)
    assert.is(status, 400, JSON.stringify(usage))
    assert.ok('usage' in error.details.fieldErrors, JSON.stringify(usage))
  }
  assert.equal((await message()).usage, whole)
})

test('bounds are allowed, and minus zero is zero', async () => {
  const { write, message } = await newTrace()
  const usage = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 0, costUsd: 0, responseId: 'x'.repeat(200) }
  await write(usage)
  assert.equal((await message()).usage, usage)
  const { url } = await newTrace()
  const text = await put(`${url}/messages/m`, '{"role":"assistant","usage":{"costUsd":-0,"inputTokens":-0}}')
  assert.match(text, '"usage":{"inputTokens":0,"costUsd":0}')
})

test('a change of the usage alone moves no updatedAt, but is a change: of the revision, in the past, and in differences', async () => {
  const { url, write, message, trace, get } = await newTrace()
  await write(undefined)
  const [before, messageBefore] = [await trace(), await message()]
  const { revision } = await get<{ revision: number }>('/messages')
  await write(whole)
  assert.is((await trace()).updatedAt, before.updatedAt)
  assert.is((await message()).updatedAt, messageBefore.updatedAt)
  node.service.traces.clear()
  assert.equal((await message(`changedSince=${revision}`)).usage, whole)
  assert.is((await message(`revision=${revision}`)).usage, undefined)
  const now = await get<{ revision: number }>('/messages')
  const past = await get<{ trace: { updatedAt: number } }>(`?revision=${now.revision}`)
  assert.is(past.trace.updatedAt, before.updatedAt)
  assert.equal((await message(`revision=${now.revision}`)).usage, whole)
  const text = await bodyOf(user.get(`${url}/diff?from=${revision}&to=${now.revision}`))
  assert.match(text, '"path":"/usage"')
  await write({ ...whole, outputTokens: 62 }, { textContent: 'hello' })
  assert.ok((await trace()).updatedAt > before.updatedAt)
})

test('it outlives the erasure of the past, and is exported', async () => {
  const { url, write, message } = await newTrace()
  await write(undefined, { textContent: 'secret' })
  await write(whole)
  assert.is((await node.call('POST', `${url}/history/erase`, { token: user.token, body: {} })).status, 200)
  assert.equal((await message()).usage, whole)
  const text = await bodyOf(user.get(`${url}/export?format=json`))
  assert.match(text, JSON.stringify({ usage: whole }).slice(1, -1))
})

test.run()
