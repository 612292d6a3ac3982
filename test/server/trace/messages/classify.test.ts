import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { classOf, toolsOf } from '../../../../src/server/trace/messages/classify.ts'
import { NO_PARTS } from '../../../../src/server/trace/messages/heads.ts'
import { type MessageDocument, headsOf } from '../../../../src/server/trace/messages/message.ts'
import { type StoredPart, storedPart } from '../../../../src/server/trace/messages/part.ts'
import { toolName } from '../../../../src/transcript/tool-names.ts'

const test = suite('trace/messages/classify')
const text = (text: string) => storedPart({ type: 'text', content: { text } })
const thinking = storedPart({ type: 'thinking', content: { text: 't' } })
const call = (toolName: string) => storedPart({ type: 'tool_call', content: { callId: 'c', toolName, args: {} } })
const result = storedPart({
  type: 'tool_result',
  content: { callId: 'c', toolName: 'Bash', output: 'o', status: 'success' },
})

const table: [string, Omit<MessageDocument, 'parts'> & { parts?: StoredPart[] }, string][] = [
  ['system with a call', { role: 'system', parts: [call('Bash')] }, 'agent_context'],
  ['user with results only', { role: 'user', textContent: 'x', parts: [result, result] }, 'agent_context'],
  ['user with a result and text', { role: 'user', parts: [result, text('x')] }, 'user_message'],
  ['user with nothing', { role: 'user' }, 'user_message'],
  [
    'assistant with thinking, text and a call',
    { role: 'assistant', parts: [thinking, text('x'), call('Bash')] },
    'tool_call',
  ],
  ['assistant with thinking and text', { role: 'assistant', parts: [thinking, text('x')] }, 'agent_text'],
  ['assistant with thinking and blank text', { role: 'assistant', parts: [thinking, text(' \n')] }, 'agent_thinking'],
  ['assistant with thinking and textContent', { role: 'assistant', textContent: 'x', parts: [thinking] }, 'agent_text'],
  ['assistant with a part without content', { role: 'assistant', parts: [storedPart({ type: 'text' })] }, 'agent_text'],
  ['assistant with nothing', { role: 'assistant' }, 'agent_text'],
]
for (const [title, message, expected] of table) {
  test(`${title} is ${expected}`, () => {
    const { role } = message
    assert.is(classOf({ role, parts: NO_PARTS, ...headsOf(message) }), expected)
  })
}

for (const [name, expected] of [
  ['Bash', 'bash'],
  ['Ｂａｓｈ', 'bash'],
  ['LocalShell', 'bash'],
  ['run_shell_command', 'bash'],
  ['readFile', 'read'],
  ['MultiEdit', 'edit'],
  ['rg', 'grep'],
  ['mcp__github__create_issue', 'mcp_github_create_issue'],
  ['frobnicate--..widget', 'frobnicate_widget'],
  ['HTTPServer', 'http_server'],
  ['constructor', 'constructor'],
  ['', 'unknown'],
] as const) {
  test(`the tool ${JSON.stringify(name)} is ${expected}`, () => assert.is(toolName(name), expected))
}

test('every call of a message counts', () =>
  assert.equal(toolsOf([call('Bash'), text('x'), call('bash')]), ['bash', 'bash']))

test.run()
