import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Part } from '../../../src/contract/message.ts'
import { factsIn } from '../../../src/server/trace/messages/facts.ts'
import type { MessageDocument } from '../../../src/server/trace/messages/message.ts'
import { storedPart } from '../../../src/server/trace/messages/part.ts'
import { type MessageFacts, type SavedShape, ShapeSoFar } from '../../../src/server/trace/shape.ts'
import { shapeOf } from './shape-oracle.ts'

const test = suite('trace/shape')

type Line = { readonly role?: MessageDocument['role']; readonly textContent?: string; readonly parts?: readonly Part[] }

const message = ({ role = 'assistant', textContent, parts = [] }: Line): MessageDocument => ({
  role,
  ...(textContent === undefined ? {} : { textContent }),
  parts: parts.map(storedPart),
})
const text = (text: string): Part => ({ type: 'text', content: { text } })
const call = (callId: string, args?: Record<string, unknown>): Part => ({
  type: 'tool_call',
  content: { callId, toolName: args ? 'Write' : 'Bash', args: args ?? {} },
})
const write = (callId: string, path: string, content = 'x') => call(callId, { file_path: path, content })
const result = (callId: string, status: 'success' | 'error' = 'success'): Part => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: '', status },
})
const error: Part = { type: 'error', content: { message: 'no' } }
const prompt: Line = { role: 'user', textContent: 'do it' }

const of = (...lines: readonly Line[]) => shapeOf(lines.map(message))
const segmentsOf = (...lines: readonly Line[]) => of(...lines).segments

test('an empty trace has an empty shape', () => {
  assert.equal(of(), { prompts: 0, calls: 0, failed: 0, files: 0, added: 0, removed: 0, segments: [] })
})

test('a prompt is a message of the user with text of its own', () => {
  const lines: Line[] = [
    prompt,
    { role: 'user', parts: [text('in a part')] },
    { role: 'user', parts: [result('c'), text('beside a result')] },
    { role: 'user', parts: [result('c')] },
    { role: 'user', textContent: ' \n', parts: [text('')] },
    { role: 'user' },
    { role: 'system', textContent: 'context' },
    { role: 'assistant', textContent: 'answer', parts: [text('answer')] },
  ]
  assert.is(of(...lines).prompts, 3)
})

test('a segment has the calls after its prompt; those before the first one are in the first', () => {
  const calls: Line = { parts: [call('a'), write('b', 'f')] }
  assert.equal(segmentsOf(calls, prompt, calls, prompt, prompt, calls), [
    [4, 2, 0],
    [0, 0, 0],
    [2, 1, 0],
  ])
  assert.equal(segmentsOf(calls, calls), [])
  assert.is(of(calls).calls, 2)
})

test('a call has failed if its result says so, also one in a later message, after another prompt', () => {
  const shape = of(
    prompt,
    { parts: [call('a'), write('b', 'one', '1\n2'), write('c', 'two')] },
    { role: 'user', parts: [result('c')] },
    prompt,
    { role: 'user', parts: [result('b', 'error')] },
  )
  assert.equal(shape, { prompts: 2, calls: 3, failed: 1, files: 1, added: 1, removed: 0, segments: [[3, 1, 1], [0, 0, 0]] }) // prettier-ignore
})

test('results are those of calls before them, the first result of the oldest call with that id', () => {
  assert.is(of({ parts: [result('a', 'error'), call('a')] }).failed, 0)
  assert.is(of({ parts: [call('a'), result('a'), result('a', 'error')] }).failed, 0)
  assert.is(of({ parts: [call('a'), result('b', 'error')] }).failed, 0)
  const twice = [write('a', 'one'), write('a', 'two', '1\n2'), result('a', 'error')]
  assert.equal([of({ parts: twice }).failed, of({ parts: twice }).added], [1, 2])
  assert.is(of({ parts: [...twice, result('a', 'error')] }).failed, 2)
})

test('an error says that the call before it in its message has failed, if that has no result', () => {
  assert.is(of({ parts: [call('a'), error] }).failed, 1)
  assert.is(of({ parts: [call('a'), call('b'), error] }).failed, 1)
  assert.is(of({ parts: [call('a'), result('a'), error] }).failed, 0)
  assert.is(of({ parts: [call('a'), error, error, result('a', 'error')] }).failed, 1)
  assert.is(of({ parts: [call('a')] }, { parts: [error] }).failed, 0)
})

test('files are counted once, lines each time, neither of them of calls that failed', () => {
  const shape = of(
    { parts: [write('a', 'one'), write('b', 'one'), write('c', 'two'), result('c', 'error')] },
    { parts: [call('d', { file_path: 'one', old_string: 'x' }), call('e', { file_path: 'three' })] },
  )
  assert.equal([shape.calls, shape.files, shape.added, shape.removed], [5, 1, 2, 1])
})

const turn = (calls: number): Line[] => [prompt, { parts: Array.from({ length: calls }, (_, i) => call(`c${i}`)) }]

test('with more than 64 prompts neighbouring segments are joined evenly', () => {
  for (const prompts of [1, 63, 64, 65, 100, 128, 1_000, 1_024]) {
    const { segments } = of(...Array.from({ length: prompts }, () => turn(1)).flat())
    assert.is(segments.length, Math.min(prompts, 64))
    const sizes = segments.map(([calls]) => calls)
    assert.is(
      sizes.reduce((sum, calls) => sum + calls, 0),
      prompts,
    )
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${prompts}: ${sizes}`)
  }
  const { prompts, segments } = of(...Array.from({ length: 9_000 }, (_, i) => turn(i === 4_499 ? 500 : 1)).flat())
  assert.equal([prompts, segments.length], [9_000, 64])
  const sizes = segments.map(([calls]) => calls)
  assert.ok(Math.max(...sizes) > 600)
  assert.ok(sizes.every((calls) => calls > 110 && calls < 160 || calls > 600), String(sizes)) // prettier-ignore
})

test('a shape takes limited memory', () => {
  const many = Array.from({ length: 20_000 }, (_, i): Line[] => [prompt, { parts: [write(`c${i}`, `f${i}`)] }]).flat()
  const shape = new ShapeSoFar()
  for (const { role, textContent = '', parts } of many.map(message))
    shape.add({ isOfUser: role === 'user', hasText: textContent !== '', facts: factsIn(parts.map(({ fact }) => fact)) })
  assert.ok(JSON.stringify(shape.saved()).length < 100_000)
  assert.equal([shape.shape().files, shape.shape().added, shape.shape().calls], [4_096, 20_000, 20_000])
})

const id = fc.constantFrom('a', 'b', 'c')
const part = fc.oneof(
  fc.constantFrom('x', ' ').map(text),
  fc.tuple(id, fc.constantFrom('one', 'two', 'three')).map(([id, path]) => write(id, path, '1\n2')),
  id.map((id) => call(id)),
  fc.tuple(id, fc.constantFrom('success' as const, 'error' as const)).map(([id, status]) => result(id, status)),
  fc.constant(error),
)
const line = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  parts: fc.array(part, { maxLength: 5 }),
})

const factsOf = ({ role, parts }: MessageDocument): MessageFacts => ({
  isOfUser: role === 'user',
  hasText: false,
  facts: factsIn(parts.map(({ fact }) => fact)),
})

test('a shape can be saved after any message, and continued from there', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.nat(30), (lines, cut) => {
      const messages = lines.map(message)
      const first = new ShapeSoFar()
      for (const one of messages.slice(0, cut)) first.add(factsOf(one))
      const rest = new ShapeSoFar(JSON.parse(JSON.stringify(first.saved())) as SavedShape)
      for (const one of messages.slice(cut)) rest.add(factsOf(one))
      assert.equal(rest.shape(), shapeOf(messages))
    }),
  )
})

test('the numbers of a shape agree with each other', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const { prompts, calls, failed, files, added, segments } = of(...lines)
      assert.is(segments.length, prompts)
      const sums = segments.reduce(([a, b, c], [x, y, z]) => [a + x, b + y, c + z], [0, 0, 0])
      if (prompts > 0) assert.equal([sums[0], sums[2]], [calls, failed])
      if (prompts > 0) assert.is(2 * sums[1], added)
      assert.ok(files <= 3 && failed <= calls)
      const all = lines.flatMap((each) => each.parts)
      assert.is(calls, all.filter(({ type }) => type === 'tool_call').length)
    }),
  )
})

test.run()
