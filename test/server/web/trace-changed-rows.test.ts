import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('web: changes for a page that is open')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const { send, open, newTrace } = await signIn(node)

const get = async (url: string) => {
  const { statusCode, body, headers } = await open(url)
  assert.is(statusCode, 200, body)
  return { body, headers }
}

/** The ids of the rows in a body, those that are gone with a minus. */
const idsOf = (body: string) =>
  [...body.matchAll(/<article ([^>]*)>/g)].map(
    ([, attributes]) => `${/ hidden/.test(attributes!) ? '-' : ''}${/data-id="([^"]*)"/.exec(attributes!)![1]}`,
  )

const openPage = async (messages: readonly object[]) => {
  const { url, page } = await newTrace({}, messages)
  let revision = /data-revision="(\d+)"/.exec((await get(page)).body)![1]!
  return {
    page,
    put: (name: string, message: object) => send('PUT', `${url}/messages/${name}`, message),
    batch: (some: readonly object[]) => send('POST', `${url}/messages/batch`, { messages: some }),
    news: async () => {
      const { body, headers } = await get(`${page}/-/rows?changedSince=${revision}`)
      revision = String(headers['x-revision'])
      return { ids: idsOf(body), body, hasMore: headers['x-more'] === 'true' }
    },
  }
}

const call = (callId: string) => ({ type: 'tool_call', content: { callId, toolName: 'Bash', args: { command: 'ls' } } })
const result = (callId: string) => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: `output of ${callId}`, status: 'success' },
})
const prompt = { externalId: 'p', role: 'user', order: 1, textContent: 'question' }
const asks = (callId: string) => ({ externalId: 'c', role: 'assistant', order: 2, parts: [call(callId)] })
const answers = (callId: string) => ({ externalId: 'r', role: 'user', order: 3, parts: [result(callId)] })

test('a message that has nothing to show any more has its row removed, and its own page says so', async () => {
  const { page, put, news } = await openPage([prompt])
  await put('p', { ...prompt, textContent: '' })
  const { ids, body } = await news()
  assert.equal(ids, ['-p'])
  assert.match(body, /<article class="msg gone" id="m-0" data-id="p" hidden(="")?><\/article>/)
  assert.match((await get(`${page}/-/message/p`)).body, /This message has no text\./)
  await put('p', prompt)
  assert.equal((await news()).ids, ['p'])
  assert.not.match((await get(`${page}/-/message/p`)).body, /This message has no text\./)
})

test('a result that gets another call moves from the old call’s row', async () => {
  const { put, news } = await openPage([prompt, asks('1'), answers('1')])
  await put('r', answers('2'))
  const without = await news()
  assert.equal(without.ids, ['c', 'r'])
  await put('r', answers('1'))
  assert.equal((await news()).ids, ['c', '-r'])
})

test('a result gets a row of its own when its call changes, and moves back to the call', async () => {
  const { put, news } = await openPage([prompt, asks('1'), answers('1')])
  await put('c', asks('2'))
  assert.equal((await news()).ids, ['c', 'r'])
  await put('c', asks('1'))
  assert.equal((await news()).ids, ['c', '-r'])
})

test('a call that arrives after its result replaces the result’s own row', async () => {
  const { put, news } = await openPage([prompt, answers('1')])
  await put('c', asks('1'))
  assert.equal((await news()).ids, ['c', '-r'])
})

test('new messages cause no removed rows', async () => {
  const { batch, news } = await openPage([prompt])
  await batch([asks('1'), answers('1'), { externalId: 'e', role: 'user', order: 4, textContent: '' }])
  assert.equal((await news()).ids, ['c'])
})

test('changes far from each other come piece by piece, the oldest first', async () => {
  const messages = Array.from({ length: 3_000 }, (_, i) => ({ ...prompt, externalId: `m${i}`, order: i }))
  const { batch, news } = await openPage(messages)
  const changed = messages.filter((_, i) => i % 200 === 0).map((message) => ({ ...message, textContent: 'changed' }))
  await batch(changed.toReversed())
  const [first, second] = [await news(), await news()]
  assert.equal([first.hasMore, second.hasMore], [true, false])
  const pieces = [first.ids, second.ids]
  assert.equal(
    pieces.map(({ length }) => length),
    [12, 3],
  )
  assert.equal(new Set(pieces.flat()), new Set(changed.map(({ externalId }) => externalId)))
  assert.equal((await news()).ids, [])
})

test.run()
