import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseExact } from '../../../src/base/json/exact.ts'
import type { MessageValue } from '../../../src/contract/realtime-client/messages.ts'
import { dayOf, messageLines } from '../../../src/client/tail/message-lines.ts'

const test = suite('tail: the lines of a message')

const at = new Date(2026, 0, 2, 15, 4, 5).getTime()
const message = (more: Partial<MessageValue>): MessageValue => ({
  id: 'id',
  externalId: 'm',
  role: 'assistant',
  createdAt: at,
  updatedAt: at,
  ...more,
})
const texts = (more: Partial<MessageValue>, width = 30) => messageLines(message(more), width).map(({ text }) => text)

test('text is shown whole, everything else on one line', () => {
  const callId = 'c'
  const parts = [
    { order: 0, type: 'thinking', content: { text: 'First this.\nThen that.' } },
    { order: 1, type: 'text', content: { text: 'Let me look.\n\nOnce more.\n' } },
    { order: 2, type: 'tool_call', content: { callId, toolName: 'bash', args: { command: 'ls -la' } } },
    { order: 3, type: 'tool_call', content: { callId, toolName: 'edit', args: { path: 'a', line: 3 } } },
    { order: 4, type: 'tool_result', content: { callId, toolName: 'bash', output: 'a\nb\nc\n', status: 'success' } },
    { order: 5, type: 'tool_result', content: { callId, toolName: 'edit', output: 'no such file', status: 'error' } },
    { order: 6, type: 'error', content: { message: 'overloaded' } },
    { order: 7, type: 'text' },
  ] satisfies MessageValue['parts']
  assert.equal(texts({ parts, model: 'large' }), [
    '15:04:05 assistant (large)',
    '  thinking: First this. (+1 line)',
    '  Let me look.',
    '  ',
    '  Once more.',
    '  > bash ls -la',
    '  > edit {"path":"a","line":3}',
    '  < bash: a (+2 lines)',
    '  < edit failed: no such file',
    '  error: overloaded',
  ])
})

test('a message without parts is shown by its text, and its own time counts', () => {
  assert.equal(texts({ role: 'user', textContent: 'hello', timestamp: at + 1_000 }), ['15:04:06 user', '  hello'])
  assert.equal(texts({ role: 'user', timestamp: 1e300 }), ['--:--:-- user'])
})

test('the day of a message is that of its own time, if it has one', () => {
  assert.is(dayOf(message({})), 'Jan 2, 2026')
  assert.is(dayOf(message({ timestamp: at + 86_400_000 })), 'Jan 3, 2026')
  assert.is(dayOf(message({ timestamp: 1e300 })), undefined)
})

test('numbers that were parsed exactly are shown as they are', () => {
  const text = `{"timestamp":100000000000000000000,"parts":[{"type":"tool_call","content":{"callId":"c","toolName":"look",
    "args":{"id":12345678901234567890}}}]}`
  const lines = texts(parseExact(text) as Partial<MessageValue>, 60)
  assert.equal(lines, ['--:--:-- assistant', '  > look {"id":12345678901234567890}'])
})

test('a long line is cut to columns, between characters', () => {
  const cut = (text: string, width = 10) => {
    const parts = [{ order: 0, type: 'thinking', content: { text } }] satisfies MessageValue['parts']
    return texts({ parts }, width)[1]!.replace('  thinking: ', '')
  }
  assert.is(cut('x'.repeat(10)), 'x'.repeat(10))
  assert.is(cut('x'.repeat(11)), `${'x'.repeat(9)}…`)
  assert.is(cut('漢字'.repeat(100_000)), '漢字漢字…')
  assert.is(cut('漢字漢字漢'), '漢字漢字漢')
  assert.is(cut('👩'.repeat(6)), '👩👩👩👩…')
  assert.is(cut('e\u0301'.repeat(10)), 'e\u0301'.repeat(10))
  assert.is(cut(`e${'\u0301'.repeat(100_000)}`).length, 321)
  assert.is(cut('\u001b'.repeat(3)), '\\u001b\\u0…')
})

test('a bar of progress is one line, as on a terminal', () => {
  const bar = ' 1%\r 50%\r100%\nsaved'
  const parts = (toolName: string) =>
    [
      { order: 0, type: 'tool_result', content: { callId: 'c', toolName, output: bar, status: 'success' } },
    ] satisfies MessageValue['parts']
  const shown = (toolName: string) =>
    messageLines(message({ parts: parts(toolName) }), 30, true).map(({ text }) => text)
  assert.equal(shown('bash').slice(1), ['  < bash:', '    100%', '    saved'])
  assert.equal(texts({ parts: parts('bash') }).slice(1), ['  < bash: 100% (+1 line)'])
  assert.ok(shown('read').join().includes(' 1%'), 'of a file nothing is left out')
})

test.run()
