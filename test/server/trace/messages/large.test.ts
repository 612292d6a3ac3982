import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../../support/world.ts'

const test = suite('trace: tiny upserts of large messages')
const { node } = await openWorld(test)
const { ask, send } = await signIn(node)

const MB = 1_000_000
const LARGE = 12 * MB
/** A message, which must not be read for an upsert of a few bytes. */
const large = (externalId: string, size: number) => ({
  externalId,
  role: 'assistant',
  textContent: 'x'.repeat(size / 2),
  parts: [{ type: 'text', content: { text: 'y'.repeat(size / 2) } }],
})

/** Milliseconds of processor time that this thread takes, once nothing of its messages is in memory. */
const costOf = async (work: () => Promise<unknown>) => {
  node.service.traces.clear()
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

const batch = (url: string, messages: readonly object[]) =>
  send<{ created: number; updated: number; unchanged: number }>('POST', `${url}/messages/batch`, { messages })

test('the cost of 200 upserts of one message, and of one upsert of each of many, depends on their own size', async () => {
  const url = '/v1/traces/large'
  await ask('PUT', url, {})
  for (let i = 0; i < 4; i++) await batch(url, [large(`m${i}`, 4 * MB)])
  const tiny = (name: (i: number) => string) => (from: number) =>
    Array.from({ length: 200 }, (_, i) => ({ externalId: name(i), role: 'assistant', order: from + i }))
  for (const upserts of [tiny(() => 'm0'), tiny((i) => `m${i % 4}`)]) {
    await batch(url, upserts(1_000)) // the code has run once
    const cost = await costOf(async () => assert.is((await batch(url, upserts(2_000))).updated, 200))
    // Reading 4 MB 200 times takes seconds.
    assert.ok(cost < 150, `${cost} ms`)
  }
})

test('large parts are replaced without reading them', async () => {
  const url = '/v1/traces/parts'
  await ask('PUT', url, {})
  await batch(url, [large('m', LARGE)])
  const short = { externalId: 'm', role: 'assistant', parts: [{ type: 'text', content: { text: 'short' } }] }
  const cost = await costOf(async () => assert.is((await batch(url, [short])).updated, 1))
  assert.ok(cost < 100, `${cost} ms`)
  assert.is((await batch(url, [short])).unchanged, 1)
  const { data } = await ask('GET', `${url}/messages?includeParts=true`)
  const [message] = (data as { messages: { parts: object[]; textContent: string }[] }).messages
  assert.equal(message!.parts, [{ order: 0, ...short.parts[0] }])
  assert.is(message!.textContent.length, LARGE / 2)
})

type Answer = { message: { parts?: object[]; model?: string; id: string; order?: number }; partsOmitted?: true }

test('the answer to a PUT has the whole message, except parts of more than 256 KiB', async () => {
  const url = '/v1/traces/put'
  await ask('PUT', url, {})
  const put = async (body: object) => {
    const { status, data } = await ask('PUT', `${url}/messages/m`, { role: 'user', ...body })
    assert.is(status, 200)
    return data as Answer
  }
  const parts = (length: number) => [{ type: 'text', content: { text: 'é'.repeat(length) } }]
  const read = async () => {
    const { data } = await ask('GET', `${url}/messages?includeParts=true`)
    return (data as { messages: Answer['message'][] }).messages[0]
  }
  for (const body of [
    { parts: parts(10), textContent: 'text' },
    { model: 'm' },
    { model: 'm' },
    { order: 2, parts: [] },
  ]) {
    const { message, partsOmitted } = await put(body)
    assert.equal([message, partsOmitted], [await read(), undefined])
  }
  await put({ parts: parts(200_000) }) // 400 kB of fewer characters
  for (const body of [{}, { order: 3 }, { parts: parts(200_000) }]) {
    const { message, partsOmitted } = await put(body)
    const { parts: _, ...rest } = (await read())!
    assert.equal([message, partsOmitted], [rest, true])
  }
  await ask('DELETE', url)
  await ask('PUT', url, {})
  const created = await put({ parts: parts(200_000) })
  assert.equal([created.message.parts, created.partsOmitted], [undefined, true])
})

test.run()
