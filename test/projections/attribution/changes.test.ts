import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Changes, messageAdded, messageUpdated } from '../../../projections/attribution/changes.ts'
import type { Part } from '../../../src/contract/message.ts'
import { storedPart } from '../../../src/server/trace/messages/part.ts'

const test = suite('attribution: changes')

const call = (toolName: string, args: object) => ({ type: 'tool_call', content: { callId: 'c', toolName, args } })
const result = { type: 'tool_result', content: { callId: 'c', toolName: 'Bash', output: '', status: 'success' } }

type Added = Parameters<typeof messageAdded>[1]
type Updated = Parameters<typeof messageUpdated>[1]

/** How a new message with these parts is read; undefined if it is not. */
const reading = (parts: readonly object[], tools: readonly string[] = []) => {
  const changes: Changes = new Map()
  const data = { ordinal: 7, tools, parts: parts.map((part) => storedPart(part as Part)) }
  messageAdded(changes, { streamId: 'a', data } as unknown as Added)
  return changes.get('a')?.messages.get(7)
}

test('a new message is read if it may write or show a file, and looked for if it has only a result', () => {
  const text = { type: 'text', content: { text: 'words' } }
  assert.is(reading([]), undefined)
  assert.is(reading([text]), undefined)
  assert.is(reading([text, call('Bash', { command: 'ls' })], ['bash']), undefined)
  assert.equal(reading([text, call('Edit', { file_path: '/a', old_string: 'x', new_string: 'y' })], ['edit']), {
    isNew: true,
  })
  assert.equal(reading([call('Read', { file_path: '/a' })], ['read']), { isNew: true })
  assert.equal(reading([result]), { isNew: true, results: ['c'] })
  assert.equal(reading([call('Rare', { path: '/a' })], ['other']), { isNew: true })
})

test('a new message that is updated in the same batch is read, and still has no rows', () => {
  const changes: Changes = new Map()
  const event = (data: object) => ({ streamId: 'a', data }) as unknown
  messageAdded(changes, event({ ordinal: 7, tools: [], parts: [storedPart(result as Part)] }) as Added)
  const update = (path: string) =>
    messageUpdated(changes, event({ ordinal: 7, patch: [{ op: 'add', path, value: 1 }] }) as Updated)
  update('/model')
  assert.equal(changes.get('a')!.messages.get(7), { isNew: true, results: ['c'] })
  update('/parts/1')
  assert.equal(changes.get('a')!.messages.get(7), { isNew: true })
})

test.run()
