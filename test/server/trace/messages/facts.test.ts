import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Part } from '../../../../src/contract/message.ts'
import { MOST_FACTS, factsIn, factsLine, factsOf } from '../../../../src/server/trace/messages/facts.ts'
import { storedPart } from '../../../../src/server/trace/messages/part.ts'

const test = suite('trace/messages/facts')

const call = (callId: string, toolName = 'Bash', args: Record<string, unknown> = {}): Part => ({
  type: 'tool_call',
  content: { callId, toolName, args },
})
const result = (callId: string, status: 'success' | 'error'): Part => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: 'x', status },
})
const text = (text: string): Part => ({ type: 'text', content: { text } })

const words = (...parts: readonly Part[]) => parts.map((part) => storedPart(part).fact)

test('a message has the facts of its texts, calls, results and errors', () => {
  const edit = { file_path: 'a', old_string: '1', new_string: '1\n2' }
  const some: Part[] = [
    text('hello'),
    text(' \n'),
    { type: 'thinking', content: { text: 'hm' } },
    call('c1'),
    call('c2', 'Edit', edit),
    result('c1', 'success'),
    result('c2', 'error'),
    { type: 'error', content: { message: 'no' } },
  ]
  const line = factsLine(words(...some))
  assert.match(line!, /^0t 3cc1 4cc2,1,0,[\w-]{8} 5rc1 6fc2 7e$/)
  const facts = factsOf(line!, null, some.length)
  assert.equal(facts, factsIn(words(...some)))
  assert.equal(
    facts.map(({ is }) => is),
    ['text', 'call', 'call', 'result', 'result', 'error'],
  )
  assert.is(factsLine(words(text(''), text('\t'))), undefined)
})

test('calls and errors without content have their facts all the same', () => {
  assert.equal(words({ type: 'text' }, { type: 'tool_call' }, { type: 'tool_result' }, { type: 'error' }), [
    undefined,
    storedPart(call('')).fact,
    undefined,
    'e',
  ])
})

test('a call and its result have the same id, whatever characters it has', () => {
  for (const id of ['toolu_01.a:b-c', '', ' ', 'a,b', '#x', 'ü', 'x'.repeat(41), 'a\0', '1 2t']) {
    const [one, other] = factsOf(factsLine(words(call(id), result(id, 'success')))!, null, 2)
    assert.is(one!.is === 'call' && one!.id, other!.is === 'result' && other!.id, JSON.stringify(id))
  }
  assert.is.not(words(call('a,b'))[0], words(call('a b'))[0])
})

test('changed parts count as they are now, removed ones not at all', () => {
  const line = factsLine(words(text('a'), call('c1'), result('c1', 'error')))!
  assert.equal(factsIn(['t', 'cc9']), factsOf(line, '1cc9 2', 3))
  assert.equal(factsIn(['t', 'cc1']), factsOf(line, null, 2))
  assert.equal(factsIn(['t', 'cc1', 'fc1', 'e']), factsOf(line, '3e', 4))
  assert.equal(factsIn(['e']), factsOf(null, '0e', 1))
  assert.equal(factsOf(line, '0 1 2', 3), [])
})

test('of a message with very many, the first ones', () => {
  const many = Array.from({ length: MOST_FACTS / 10 }, (_, i) => `cid-${i}`)
  const line = factsLine(many)!
  assert.ok(line.length < MOST_FACTS)
  const facts = factsOf(line, null, many.length)
  assert.equal(facts, factsIn(many))
  assert.ok(facts.length > 5_000 && facts.length < many.length)
  const changed = many
    .map((word, i) => `${i}${word}`)
    .join(' ')
    .slice(0, MOST_FACTS)
  assert.equal(factsOf(null, changed, many.length), factsIn(many))
})

test.run()
