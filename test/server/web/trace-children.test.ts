import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'

const test = suite('web: the sub-agents that the page of a session links to')

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

test.run()
