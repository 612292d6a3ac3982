import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SessionShape } from '../../../src/contract/trace.ts'
import { sharedWorld, signIn } from '../../support/world.ts'

const test = suite('trace: its shape')

const { node } = await sharedWorld()

type Trace = { readonly externalId: string; readonly shape?: SessionShape }
type Page = { readonly traces: readonly Trace[] }

const { token, namespaceSlug, send, get, say, newTrace } = await signIn(node)

const shapeAt = async (url: string) => (await send<{ trace: Trace }>('GET', url)).trace.shape

const write = (callId: string, path: string) => ({
  type: 'tool_call',
  content: { callId, toolName: 'Write', args: { file_path: path, content: '1\n2\n3' } },
})
const result = (callId: string, status: string) => ({
  type: 'tool_result',
  content: { callId, toolName: 'Write', output: '', status },
})

const prompt = { externalId: 'p', role: 'user', order: 0, textContent: 'Write two files' }
const answer = { externalId: 'a', role: 'assistant', order: 1, parts: [write('c1', 'one'), write('c2', 'two')] }
const results = { externalId: 'r', role: 'user', order: 2, parts: [result('c1', 'success'), result('c2', 'error')] }
const shape: SessionShape = { prompts: 1, calls: 2, failed: 1, files: 1, added: 3, removed: 0, segments: [[2, 1, 1]] }

test('is in every representation once the trace has messages', async () => {
  const { url: parent } = await newTrace()
  const parentId = parent.split('/').at(-1)!
  const { url } = await newTrace({ parentExternalId: parentId, visibility: 'public' })
  const id = url.split('/').at(-1)
  const oneOf = (traces: readonly Trace[]) => traces.find(({ externalId }) => externalId === id)!
  const one = ({ traces }: Page) => oneOf(traces)
  const query = async (name: string, args: object) =>
    (await send<{ value: unknown }>('POST', '/v1/query', { query: name, args: { authToken: token, ...args } })).value
  const exported = async () => {
    const { body } = await get(`${url}/export?format=json`)
    return (JSON.parse(body) as { trace: Trace }).trace
  }
  const shown = async () => [
    (await send<{ trace: Trace }>('GET', url)).trace,
    (await send<{ trace: Trace }>('PATCH', url, {})).trace,
    (await send<{ trace: Trace }>('PUT', url, { visibility: 'public' })).trace,
    one(await send('GET', '/v1/traces')),
    one(await send('GET', '/v1/traces?sort=startedAt')),
    one(await send('GET', '/v1/traces?sort=updatedAt&limit=9')),
    one(await send('GET', `/v1/namespaces/${namespaceSlug}/traces`)),
    one(await send('GET', '/v1/feed')),
    one(await send('GET', `${parent}/children`)),
    oneOf((await query('feed:getPublicTraces', {})) as Trace[]),
    oneOf((await query('feed:getNamespaceTraces', {})) as Trace[]),
    (await query('traces:get', { externalId: id })) as Trace,
    await exported(),
  ]
  for (const trace of await shown()) assert.is(trace.shape, undefined)
  await say(url, [prompt, answer, results])
  for (const [i, trace] of (await shown()).entries()) assert.equal(trace.shape, shape, `representation ${i}`)
  assert.equal(await shapeAt(`${url}?at=${Date.now() + 60_000}`), shape)
  assert.is(await shapeAt(`${url}?revision=0`), undefined)
})

test('is that of the messages: after updates, with messages that come before others, deleted, created again, and in the past', async () => {
  const { url } = await newTrace()
  const known: [revision: number, shape: SessionShape | undefined][] = []
  const check = async (expected: SessionShape | undefined) => {
    assert.equal(await shapeAt(url), expected)
    known.push([(await send<{ revision: number }>('GET', `${url}/messages?limit=0`)).revision, expected])
  }
  const checkPast = async () => {
    for (const [revision, expected] of known.splice(0))
      assert.equal(await shapeAt(`${url}?revision=${revision}`), expected, `revision ${revision}`)
  }
  await check(undefined)
  await say(url, [results, answer])
  await say(url, [prompt])
  await check(shape)
  await send('PUT', `${url}/messages/r`, { role: 'user', parts: [result('c1', 'success'), result('c2', 'success')] })
  await check({ ...shape, failed: 0, files: 2, added: 6, segments: [[2, 2, 0]] })
  await send('PUT', `${url}/messages/p`, { role: 'user', textContent: ' ' })
  await check({ ...shape, prompts: 0, failed: 0, files: 2, added: 6, segments: [] })
  await checkPast()
  await send('DELETE', url)
  await send('PUT', url, {})
  await check(undefined)
  await say(url, [prompt])
  await check({ ...shape, calls: 0, failed: 0, files: 0, added: 0, segments: [[0, 0, 0]] })
  await checkPast()
})

test('stays when the past is erased', async () => {
  const { url } = await newTrace()
  await say(url, [prompt, answer, results])
  await send('PUT', `${url}/messages/p`, { role: 'user', textContent: 'Write others' })
  await send('POST', `${url}/history/erase`)
  assert.equal(await shapeAt(url), shape)
  await say(url, [{ ...prompt, externalId: 'q', order: 3 }])
  assert.equal(await shapeAt(url), { ...shape, prompts: 2, segments: [[2, 1, 1], [0, 0, 0]] }) // prettier-ignore
})

test.run()
