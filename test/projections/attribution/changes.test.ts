import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Changes, messageAdded } from '../../../projections/attribution/changes.ts'
import type { Part } from '../../../src/contract/message.ts'
import { storedPart } from '../../../src/server/trace/messages/part.ts'

const test = suite('attribution: changes')

const call = (toolName: string, args: object) => ({ type: 'tool_call', content: { callId: 'c', toolName, args } })
const result = { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output: '', status: 'success' } }

/** Whether a new message with these parts is read. */
const isRead = (parts: readonly object[], tools: readonly string[] = []) => {
  const changes: Changes = new Map()
  const data = { ordinal: 7, tools, parts: parts.map((part) => storedPart(part as Part)) }
  messageAdded(changes, { streamId: 'a', data } as unknown as Parameters<typeof messageAdded>[1])
  return changes.get('a')?.messages.has(7) ?? false
}

test('a new message is read if it may write or show a file, or has a result', () => {
  const text = { type: 'text', content: { text: 'words' } }
  assert.not(isRead([]))
  assert.not(isRead([text]))
  assert.not(isRead([text, call('Bash', { command: 'ls' })], ['bash']))
  assert.ok(isRead([text, call('Edit', { file_path: '/a', old_string: 'x', new_string: 'y' })], ['edit']))
  assert.ok(isRead([call('Read', { file_path: '/a' })], ['read']))
  assert.ok(isRead([result]))
  assert.ok(isRead([call('Rare', { path: '/a' })], ['other']))
})

test.run()
