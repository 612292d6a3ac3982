import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newMatches } from '../../../../src/server/trace/messages/matches-route.ts'
import { openWorld, signIn } from '../../../support/world.ts'
import { watchLoop } from '../../../support/watch-loop.ts'

const test = suite('trace: where a text occurs')

const { node } = await openWorld(test)
const user = await signIn(node)
const { namespaceSlug, send, ask } = user

const newTrace = async (messages: readonly object[]) => (await user.newTrace({}, messages)).url

type Match = { externalId: string; ordinal: number; part?: number; count: number }
type Matches = { matches: Match[]; total: number }

const find = (url: string, q: string, more = '') =>
  send<Matches>('GET', `${url}/messages/matches?q=${encodeURIComponent(q)}${more}`)

const text = (text: string) => ({ type: 'text', content: { text } })
const call = (args: object, toolName = 'Bash') => ({ type: 'tool_call', content: { callId: 'call-1', toolName, args } })
const result = (output: string) => ({
  type: 'tool_result',
  content: { callId: 'call-1', toolName: 'Grep', output, status: 'success' },
})

test('the answer has each part with the text, in list order, without regard to case, with its occurrences', async () => {
  const url = await newTrace([
    { externalId: 'last', role: 'user', order: 2, textContent: 'Needle, NEEDLE' },
    {
      externalId: 'first',
      role: 'assistant',
      order: 1,
      textContent: 'nothing',
      parts: [
        text('none'),
        { type: 'thinking', content: { text: 'a needle' } },
        { type: 'text' },
        call({ a: [{ b: 'echo needle' }, 'needleneedle'], needle: true, n: 42 }),
        { type: 'error', content: { message: 'no Needle' } },
        result('n.edle "quoted" [a-z]* \u00c4PFEL Stra\u1e9ee \u0394\u03a3'),
      ],
    },
  ])
  const first = { externalId: 'first', ordinal: 0 }
  assert.equal(await find(url, 'nEEdle'), {
    matches: [
      { ...first, part: 1, count: 1 },
      { ...first, part: 3, count: 3 },
      { ...first, part: 4, count: 1 },
      { externalId: 'last', ordinal: 1, count: 2 },
    ],
    total: 7,
  })
  for (const [q, part] of [
    ['n.edle', 5],
    ['[A-Z]*', 5],
    ['"QUOTED"', 5],
    ['\u00e4pfel', 5],
    ['stra\u00dfe', 5],
    ['\u03b4\u03c2', 5],
    ['bash', 3],
    ['42', 3],
  ] as const)
    assert.equal(await find(url, q), { matches: [{ ...first, part, count: 1 }], total: 1 }, q)
  for (const q of ['no such text', 'strasse', 'call-1', 'success', 'tool_call', 'true'])
    assert.equal(await find(url, q), { matches: [], total: 0 }, q)
  assert.is((await find(url, 'needle', `&namespace=${namespaceSlug}`)).total, 7)
  for (const query of ['', '?q=', `?q=${'x'.repeat(401)}`])
    assert.is((await ask('GET', `${url}/messages/matches${query}`)).status, 400, query)
  for (const slug of ['nowhere', 'no--slug'])
    assert.is((await ask('GET', `${url}/messages/matches?q=a&namespace=${slug}`)).status, 404)
})

test('numbers are found as they were sent, also those beyond a double', async () => {
  const body =
    '{"messages":[{"externalId":"m","role":"assistant","parts":[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":{"n":12345678901234567891}}}]}]}'
  const url = await newTrace([])
  const headers = { ...user.headers, 'content-type': 'application/json' }
  const { statusCode } = await node.app.inject({ method: 'POST', url: `${url}/messages/batch`, headers, body })
  assert.is(statusCode, 200)
  assert.is((await find(url, '234567891')).total, 1)
})

test('a text that is expensive to read or to compare does not delay other requests for long', async () => {
  const args = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, `${i}`]))
  const deep = JSON.parse(`${'['.repeat(400)}"deep"${']'.repeat(400)}`) as unknown
  const url = await newTrace([
    { externalId: 'args', role: 'assistant', parts: [call({ args })] },
    { externalId: 'deep', role: 'assistant', parts: [call({ deep, many: Array(20_000).fill(1) })] },
    { externalId: 'alike', role: 'user', textContent: 'a'.repeat(2_000_000) },
  ])
  const loop = watchLoop()
  assert.is((await find(url, 'DEEP')).total, 1)
  assert.is((await find(url, 'key7')).total, 0, 'keys are no text')
  assert.is((await find(url, `${'a'.repeat(200)}b${'a'.repeat(199)}`)).total, 0)
  loop.stop()
  // Reading the arguments in one go took a second, comparing a slice of the text 80 ms.
  assert.ok(loop.longest() < 250, `${loop.longest()} ms`)
})

test('the answer has 1,000 entries and the number of all occurrences, for a trace that is read in chunks', async () => {
  const filler = 'x'.repeat(8_000)
  const messages = Array.from({ length: 1_200 }, (_, i) => ({
    externalId: `m${i}`,
    role: 'user',
    order: 1_200 - i,
    parts: [text(`${filler} Hay hay`)],
  }))
  const url = await newTrace(messages)
  const { matches, total } = await find(url, 'HAY')
  assert.is(total, 2_400)
  assert.equal(
    matches,
    Array.from({ length: 1_000 }, (_, i) => ({ externalId: `m${1_199 - i}`, ordinal: i, part: 0, count: 2 })),
  )
})

test('other work gets its turn while a long text is searched', () => {
  const row = { external_id: 'm', text_content: JSON.stringify('aab'.repeat(100_000)), parts: null }
  const steps = [...newMatches('aaa').of(row)]
  assert.ok(steps.length >= 4 && steps.every((step) => step === ''), String(steps.length))
})

test.run()
