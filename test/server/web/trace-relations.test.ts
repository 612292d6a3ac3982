import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'

const test = suite('web: the sessions that the page of a session links to')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const port = await listen(node)
const { token, send, newTrace } = await signIn(node)

const traceOf = (fields: object) => newTrace({ visibility: 'public', ...fields })
const childOf = (parent: { readonly externalId: string }, title: string) =>
  traceOf({ title, parentExternalId: parent.externalId, parentCallId: 't1' })

const get = async (url: string, as?: string) => {
  const { statusCode, body } = await callerOf(node, as).open(url)
  assert.is(statusCode, 200, body)
  return body
}

const COUNT = 800
const long = Array.from({ length: COUNT }, (_, i) => ({
  externalId: `m${i}`,
  role: 'assistant',
  order: i,
  textContent: 'word '.repeat(3_000),
}))
const taskCall = { type: 'tool_call', content: { callId: 't1', toolName: 'Task', args: { description: 'look' } } }
const task = { externalId: 'c', role: 'assistant', order: COUNT, parts: [taskCall] }

const parent = await traceOf({ title: 'The parent' })
for (let i = 0; i < COUNT; i += 180)
  await send('POST', `${parent.url}/messages/batch`, { messages: long.slice(i, i + 180) })
await send('POST', `${parent.url}/messages/batch`, { messages: [task] })

for (const [name, take, as] of [
  ['is made private, for strangers', (url: string) => send('PATCH', url, { visibility: 'private' }), undefined],
  ['is deleted, for strangers', (url: string) => send('DELETE', url), undefined],
  ['is deleted, for members', (url: string) => send('DELETE', url), token],
] as const)
  test(`a page that is being sent is broken off when a sub-agent’s session ${name}`, async () => {
    const child = await childOf(parent, `The title of one that ${name}`)
    const reader = await openSlowReader(port, parent.page, as)
    await take(child.url)
    const { text, isWhole } = await reader.rest()
    assert.not(isWhole)
    assert.match(text, /The parent/)
    for (const sent of [text, await get(parent.page, as)]) assert.not.match(sent, new RegExp(`one that ${name}`))
  })

test('making a sub-agent’s session private does not break off the page of a member, nor does another session break off any page', async () => {
  const [child, other] = [await childOf(parent, 'The shown title'), await traceOf({})]
  for (const [url, as] of [
    [child.url, token],
    [other.url, undefined],
  ] as const) {
    const reader = await openSlowReader(port, parent.page, as)
    await send('PATCH', url, { visibility: 'private' })
    const { text, isWhole } = await reader.rest()
    assert.ok(isWhole)
    assert.is(/The shown title/.test(text), as !== undefined)
  }
})

test('a call with several sub-agents links to the newest', async () => {
  const again = await traceOf({})
  await send('POST', `${again.url}/messages/batch`, { messages: [task] })
  for (const title of ['The first try', 'The second try']) await childOf(again, title)
  const body = await get(again.page)
  assert.equal(
    ['The first try', 'The second try'].map((title) => body.split(title).length - 1),
    [1, 2],
  )
})

test('a session says which one it continues, and that one where it goes on; a sub-agent says which one has started it', async () => {
  const origin = await traceOf({ title: 'The origin' })
  const fork = await traceOf({ title: 'The fork', parentExternalId: origin.externalId, parentKind: 'fork' })
  const again = await traceOf({ title: 'Written anew', parentExternalId: origin.externalId, parentKind: 'resume' })
  const child = await childOf(origin, 'The sub-agent')
  const head = (body: string) => /<header class="head">[^]*<\/header>/.exec(body)![0]
  for (const { page } of [fork, again]) assert.match(head(await get(page)), /continues <a[^>]*><bdi>The origin</)
  assert.match(head(await get(child.page)), /by <bdi>an agent<\/bdi>, in <a[^>]*><bdi>The origin</)
  const body = await get(origin.page)
  assert.not.match(head(body), /continues|by <bdi>/)
  const [, continued = ''] = body.split('Continued in')
  for (const title of ['The fork', 'Written anew']) assert.match(continued, title)
  assert.not.match(continued, 'The sub-agent')
  assert.match(body, /Sub-agents <span class="faint num">1</)
})

test('an origin that a reader may not read is not named', async () => {
  const origin = await newTrace({ title: 'The private origin' })
  const fork = await traceOf({ title: 'Public', parentExternalId: origin.externalId, parentKind: 'fork' })
  assert.match(await get(fork.page, token), 'The private origin')
  assert.not.match(await get(fork.page), 'The private origin')
  const lost = await traceOf({ parentExternalId: 'never uploaded', parentKind: 'fork' })
  assert.not.match(await get(lost.page, token), 'continues')
})

test('a kind that there is not is refused', async () => {
  const { status, error } = await node.call('PUT', '/v1/traces/odd', { token, body: { parentKind: 'twin' } })
  assert.is(status, 400)
  assert.match(JSON.stringify(error), 'must be one of call, fork, resume')
})

test.run()
