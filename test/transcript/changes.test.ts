import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Part } from '../../src/contract/message.ts'
import { storedPart } from '../../src/server/trace/messages/part.ts'
import { MOST_KEPT, newChanges } from '../../src/transcript/changes.ts'
import { readMessage } from '../../src/transcript/message.ts'
import type { Steps } from '../../src/base/json/steps.ts'
import { shapeOf } from '../server/trace/shape-oracle.ts'

const test = suite('transcript: what the calls of a session changed')

type Line = { readonly role: 'user' | 'assistant'; readonly parts: readonly Part[] }

const doneAll = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const changesOf = (lines: readonly Line[]) => {
  const changes = newChanges()
  for (const [i, line] of lines.entries()) {
    const text = JSON.stringify({ externalId: `m${i}`, timestamp: 1_000 * i, ...line })
    doneAll(changes.add(doneAll(readMessage(text))))
  }
  return changes.end()
}

const call = (callId: string, toolName: string, args: Record<string, unknown>): Part => ({
  type: 'tool_call',
  content: { callId, toolName, args },
})
const write = (callId: string, path: string, content = 'x') => call(callId, 'Write', { file_path: path, content })
const result = (callId: string, status: 'success' | 'error', output = ''): Part => ({
  type: 'tool_result',
  content: { callId, toolName: 'Write', output, status },
})
const text = (text: string): Part => ({ type: 'text', content: { text } })

test('files are in the order of their first edit, and edits in their order, each with its message and prompt', () => {
  const { files } = changesOf([
    { role: 'assistant', parts: [write('a', 'two')] },
    { role: 'user', parts: [text('do it')] },
    { role: 'assistant', parts: [write('b', 'one'), call('c', 'Edit', { file_path: 'two', old_string: '1', new_string: '2' })] }, // prettier-ignore
  ])
  assert.equal(
    files.map(({ path, added, removed, edits }) => ({ path, added, removed, edits: edits.map(({ messageId, prompt, timestamp }) => [messageId, prompt, timestamp]) })), // prettier-ignore
    [
      { path: 'two', added: 2, removed: 1, edits: [['m0', 0, 0], ['m2', 1, 2_000]] }, // prettier-ignore
      { path: 'one', added: 1, removed: 0, edits: [['m2', 1, 2_000]] },
    ],
  )
})

test('a failed edit has its reason, and does not count', () => {
  const { files, changed, edits, failed, added } = changesOf([
    { role: 'assistant', parts: [write('a', 'one'), write('b', 'two'), write('c', 'one', '1\n2')] },
    { role: 'user', parts: [result('a', 'error', '\n<b>no</b>\nmore'), result('c', 'success', 'ok')] },
    { role: 'assistant', parts: [write('d', 'three'), { type: 'error', content: { message: 'gone' } }] },
  ])
  assert.equal({ changed, edits, failed, added }, { changed: 2, edits: 2, failed: 2, added: 3 })
  assert.equal(
    files.map(({ path, edits }) => [path, ...edits.map(({ failure }) => failure)]),
    [
      ['one', '<b>no</b>', undefined],
      ['two', undefined],
      ['three', 'gone'],
    ],
  )
})

const id = fc.constantFrom('a', 'b', 'c')
const path = fc.constantFrom('one', 'two', 'three')
const part = fc.oneof(
  fc.constantFrom('x', ' ').map(text),
  fc.tuple(id, path).map(([id, path]) => write(id, path, '1\n2')),
  fc.tuple(id, path).map(([id, path]) => call(id, 'Edit', { file_path: path, old_string: '1', new_string: '2' })),
  id.map((id) => call(id, 'Bash', { command: 'ls' })),
  id.map((id) => call(id, 'apply_patch', { input: '*** Add File: one\n+1\n*** Add File: four\n+1\n' })),
  fc.tuple(id, fc.constantFrom('success' as const, 'error' as const)).map(([id, status]) => result(id, status)),
  fc.constant<Part>({ type: 'error', content: { message: 'no' } }),
)
const lines = fc.array(
  fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), parts: fc.array(part, { maxLength: 5 }) }),
  { maxLength: 30 },
)

test('the numbers of changes agree with the shape of the session', () => {
  fc.assert(
    fc.property(lines, (lines) => {
      const { changed, added, removed } = changesOf(lines)
      const shape = shapeOf(lines.map(({ role, parts }) => ({ role, parts: parts.map(storedPart) })))
      assert.equal([changed, added, removed], [shape.files, shape.added, shape.removed])
    }),
    { numRuns: 300 },
  )
})

const keptIn = ({ files }: ReturnType<typeof changesOf>) =>
  files.flatMap(({ edits }) => edits).filter(({ edit }) => edit !== undefined)

test('of very many edits a limited number is kept, and all are counted', () => {
  const large = 'line\n'.repeat(40_000)
  const one = changesOf([{ role: 'assistant', parts: [write('a', 'one', large.repeat(2)), write('b', 'one', large)] }])
  assert.equal([keptIn(one).length, one.added], [1, 120_000])
  const many = changesOf(
    Array.from({ length: 30 }, (_, i): Line => ({ role: 'assistant', parts: [write(`c${i}`, 'one', large)] })),
  )
  assert.equal([keptIn(many).length, many.added], [Math.floor(MOST_KEPT / (large.length + 40_000)), 1_200_000])
  const edits = Array.from({ length: 6_000 }, () => ({ old_string: '1', new_string: '2' }))
  const { left, ...rest } = changesOf([
    { role: 'assistant', parts: [call('a', 'MultiEdit', { file_path: 'f', edits })] },
  ])
  assert.equal([left, rest.edits], [1_000, 5_000])
})

test.run()
