import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { callerOf, openWorld, signIn } from '../../support/world.ts'
import { listen, openSlowReader } from '../../support/slow-reader.ts'

const test = suite('web: what the page of a long session reads')

const { node } = await openWorld(test, { env: { SUMMARY_PROVIDER: 'none' } })
const port = await listen(node)
const { send, newTrace } = await signIn(node)
const visitor = callerOf(node)

const traceOf = (messages: readonly object[]) => newTrace({ visibility: 'public' }, messages)
const get = async (url: string) => {
  const { statusCode, body } = await visitor.open(url)
  assert.is(statusCode, 200, body)
  return body
}

const prompt = (i: number, more: object = { textContent: `question ${i}` }) => ({
  externalId: `m${i}`,
  role: 'user',
  order: i,
  ...more,
})
const LONG = `The plan: 漢字\0 ${'漢'.repeat(70_000)}`
const parts = [
  { type: 'thinking', content: { text: 'hm' } },
  { type: 'text', content: { text: ' ' } },
  { type: 'text', content: { text: LONG } },
]
const outlineOf = (body: string) => [...body.matchAll(/<span class="q" dir="auto">([^<]*)/g)].map(([, text]) => text!)

test('an outline has the beginnings of prompts of any length, and the number of those left out', async () => {
  const special = new Map([
    [1, { textContent: LONG }],
    [2, { parts }],
    [3, { textContent: ' ', parts: [] }],
    [4, { textContent: 'short' }],
  ])
  const { url, page } = await traceOf(Array.from({ length: 2_300 }, (_, i) => prompt(i, special.get(i))))
  await send('PUT', `${url}/messages/m4`, { role: 'user', order: 4, textContent: '', parts })
  const body = await get(page)
  const outline = outlineOf(body)
  assert.is(outline.length, 2_000)
  for (const i of [1, 2, 4]) assert.match(outline[i]!, /^The plan: 漢字.{0,2} 漢{150}/)
  assert.equal([outline[0], outline[1_999]], ['question 0', 'question 1999'])
  assert.match(body, />300 more prompts</)
})

test('an outline with more prompts than the shape has segments counts the calls on the page', async () => {
  const call = { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: { command: 'make' } } }
  const { page } = await traceOf(
    Array.from({ length: 1_010 }, (_, i) =>
      i % 4 === 0 ? prompt(i) : { externalId: `m${i}`, role: 'assistant', order: i, parts: [call] },
    ),
  )
  const counted = async (query: string) => {
    const outline = (await get(`${page}${query}`)).split('id="outline"')[1]!
    const items = outline.split('<li>').slice(1)
    assert.is(items.length, 253)
    return items.flatMap((item, i) => (item.includes('3 tools') ? [i] : []))
  }
  const from = (first: number, last: number) => Array.from({ length: last + 1 - first }, (_, i) => first + i)
  assert.equal(await counted(''), from(0, 48), 'the fiftieth may go on on the next page')
  assert.equal(await counted('?from=402'), from(101, 149), 'the calls of an earlier prompt begin the page')
})

test('the preview of a session with a very long prompt, and of a link to one, has its beginning', async () => {
  for (const more of [{ textContent: LONG }, { parts }]) {
    const { page } = await traceOf([prompt(0, more)])
    for (const url of [page, `${page}?m=m0`])
      assert.match(await get(url), /<meta name="description" content="[^"]*The plan: 漢字.{0,2} 漢+…">/)
  }
})

test('a page of a long session is sent to its end while the session goes on', async () => {
  const { url, page } = await traceOf(
    Array.from({ length: 1_100 }, (_, i) =>
      prompt(i, { textContent: i < 200 ? 'word '.repeat(12_000) : `question ${i}` }),
    ),
  )
  const reader = await openSlowReader(port, page)
  await send('PUT', `${url}/messages/new`, prompt(-1, { textContent: 'a new question' }))
  const { text, isWhole } = await reader.rest()
  assert.ok(isWhole)
  const outline = outlineOf(text)
  assert.equal([outline.length, outline.at(-1)], [1_100, 'question 1099'])
  assert.not.match(text, /a new question/)
})

test.run()
