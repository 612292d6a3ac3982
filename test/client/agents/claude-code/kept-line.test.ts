import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { keepLine } from '../../../../src/client/agents/claude-code/kept-line.ts'
import { parseLine } from '../../../../src/client/agents/support/lines.ts'

const test = suite('fields of a Claude Code line that are kept for the second reading')

const lineOf = (json: object) => {
  const text = JSON.stringify(json)
  return { ...parseLine(Buffer.from(text))!, number: 1, offset: 0, size: text.length, ended: true }
}
const common = { parentUuid: 'u-0', isSidechain: false, cwd: '/w/app', sessionId: 's-1', gitBranch: 'main' }
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln'.repeat(80) }
const message = {
  id: 'm-1',
  model: 'claude-opus-4-6',
  role: 'assistant',
  content: [thinking],
  usage: { output_tokens: 9 },
}

test('an answer is kept without its signatures, and without its text if it has an id', () => {
  const { json, text } = keepLine(lineOf({ ...common, type: 'assistant', uuid: 'u-1', message }), undefined)
  assert.is(text, '')
  assert.equal(json['message'], {
    id: 'm-1',
    model: 'claude-opus-4-6',
    usage: { output_tokens: 9 },
    content: [{ type: 'thinking', thinking: 'Hm.' }],
  })
  assert.is(json['parentUuid'], undefined)
})

test('which line a line of a sub-agent goes on with is kept, because the task of the sub-agent is found by it', () => {
  const sidechain = { ...common, isSidechain: true, type: 'user', uuid: 'u-1' }
  const { json } = keepLine(lineOf({ ...sidechain, message: { role: 'user', content: 'hello' } }), undefined)
  assert.is(json['parentUuid'], 'u-0')
})

test('the text of a line without an id is kept, because its id is made from it', () => {
  const line = lineOf({ ...common, type: 'user', message: { role: 'user', content: 'hello' } })
  assert.is(keepLine(line, undefined).text, line.text)
})

test('a line of any other type is kept as it is', () => {
  const line = lineOf({ ...common, type: 'system', uuid: 'u-1', subtype: 'api_error', retryAttempt: 1 })
  assert.is(keepLine(line, undefined).json, line.json)
})

test.run()
