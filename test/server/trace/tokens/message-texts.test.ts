import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { textsOfMessage } from '../../../../src/server/trace/tokens/message-texts.ts'

const test = suite('the texts of a message that are searched')

const call = { callId: 'c', toolName: 'Bash' }
const parts = [
  { type: 'text', content: { text: 'a text' } },
  { type: 'text' },
  { type: 'thinking', content: { text: 'a thought', durationMs: 5 } },
  { type: 'tool_call', content: { ...call, args: { command: 'ls', n: 12, deep: [{ key: 'value', no: true }, null] } } },
  { type: 'tool_call', content: { ...call, args: {} } },
  { type: 'tool_result', content: { ...call, output: 'o\nutput', status: 'success' } },
  { type: 'error', content: { message: 'an error' } },
].map((part, order) => JSON.stringify({ order, ...part }))

const textsOf = (all: readonly string[]) =>
  [...textsOfMessage({ role: 'assistant', text: JSON.stringify('said'), parts: all.join() })].filter(
    (text) => text !== undefined,
  )

const expected = [
  { place: 'answer', text: 'said' },
  { place: 'answer', part: 0, text: 'a text' },
  { place: 'thinking', part: 2, text: 'a thought' },
  { place: 'call', part: 3, text: 'Bash\nls\n12\nvalue' },
  { place: 'call', part: 4, text: 'Bash' },
  { place: 'output', part: 5, text: 'o\nutput' },
  { place: 'output', part: 6, text: 'an error' },
]

test('texts of a message are found by their places, whether it is parsed at once or in steps', () => {
  assert.equal(textsOf(parts), expected)
  const long = JSON.stringify({ order: 7, type: 'text', content: { text: 'x'.repeat(100_000) } })
  assert.equal(textsOf([...parts, long]).slice(0, -1), expected)
})

test('numbers are found as they were written', () => {
  for (const number of ['12345678901234567890', '1.50', '1e3', '-2.0'])
    for (const args of [`{"n":${number}}`, `{"n": ${number}}`, `{"n":[${number}]}`]) {
      const part = `{"order":0,"type":"tool_call","content":{"callId":"c","toolName":"t","args":${args}}}`
      assert.is(textsOf([part])[1]!.text, `t\n${number}`, args)
    }
})

test('the beginning and the end of a long text are searched', () => {
  const text = `beginning ${'x '.repeat(40_000)} end`
  const [, first] = textsOf([JSON.stringify({ order: 0, type: 'text', content: { text } })])
  assert.ok(first!.text.startsWith('beginning') && first!.text.endsWith(' end') && first!.text.length < 21_000)
})

test.run()
