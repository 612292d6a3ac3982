import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codex } from '../../../../src/client/agents/codex/index.ts'
import { answer, call, event, item, line, meta, output, prompt, reader, text, turn } from '../../support/codex-file.ts'
import { assertGrowth } from '../../support/growth.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('ids of a Codex session')
const { path, remove } = tempFolder()
test.after(remove)
const { ids, read, parts } = reader(path)

test('a message’s id is the item’s id, else the call’s id, else a hash of the line (rule 10)', async () => {
  const [first, second, third, fourth, fifth] = await ids(
    prompt('a', { id: 'm-1' }),
    call({}),
    output('x'),
    call({ id: 'f-1' }),
    prompt('b'),
  )
  assert.equal([first, second, third, fourth], ['m-1', 'c-1:call', 'c-1:out', 'f-1'])
  assert.match(fifth!, /^line-/)
})

test('repeated ids, and the ids of repeated lines, get a number (rule 10)', async () => {
  assert.equal(
    await ids(call({}), call({ name: 'other' }), answer('a', { id: 'c-1:call' }), output('x'), output('x')),
    ['c-1:call', 'c-1:call-2', 'c-1:call-3', 'c-1:out', 'c-1:out-2'],
  )
  const [one, two] = await ids(prompt('same'), prompt('same'))
  assert.is(two, `${one}-2`)
})

test('an id that the service would reject is replaced (rule 10)', async () => {
  const found = await ids(
    prompt('a', { id: '' }),
    prompt('b', { id: 7 }),
    prompt('c', { id: '..' }),
    call({ call_id: 'x'.repeat(1_024) }),
    call({ call_id: '' }),
  )
  assert.is(new Set(found).size, 5)
  for (const id of found) assert.match(id, /^line-/)
})

test('a call without an id gets the id of its message, and its result is matched to it', async () => {
  const [first, second] = await parts(call({ call_id: undefined }), output('x', { call_id: undefined }))
  assert.ok(first?.type === 'tool_call' && second?.type === 'tool_result')
  assert.match(first.content.callId, /^line-/)
  assert.equal([second.content.callId, second.content.toolName], [first.content.callId, 'shell'])
})

test('messages keep their ids and their order when the session grows', async () => {
  const lines = [
    meta('s-1'),
    turn('t-1'),
    prompt('same'),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look' }] }),
    call({ arguments: '{"a":"ä🙂\u2028"}' }),
    call({ name: 'again' }),
    'no JSON',
    output('x'),
    '',
    output('x'),
    event('error', { message: 'e' }),
    prompt('same'),
    meta('s-2'),
    line('compacted', { message: 'sum' }),
    turn('t-2', 'other'),
    prompt('same', { id: 'c-1:call' }),
    answer('same'),
  ]
  await assertGrowth(codex, join(path, 'rollout-grown.jsonl'), text(lines))
  await assertGrowth(codex, join(path, 'rollout-no-newline.jsonl'), lines.join('\n'))
})

test('a damaged line loses no other line, and an incomplete last line is not reported', async () => {
  const whole = [meta('s-1'), prompt('a'), answer('b')]
  const { messages, malformed, session } = await read(whole[0]!, '{"type":', whole[1]!, '[]', whole[2]!)
  assert.is(messages.length, 2)
  assert.equal([malformed, session.skippedLines], [[2, 4], 2])
})

test.run()
