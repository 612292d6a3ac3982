import { writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../../src/sync/agents/claude-code/index.ts'
import { readFrom } from '../../support/resume.ts'
import { answerLine, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('a session stored as lines')
const { path: folder, remove } = tempFolder()
test.after(remove)

const read = async (path: string) => {
  const [stored] = await Array.fromAsync(claudeCode.sessions(path))
  return stored!.read({ onMalformed: () => {} })
}
const lines = [userLine('u-1', 'hello'), answerLine('a-1', 'm-1', [text('hi')]), answerLine('a-2', 'm-1', [text('on')])]

test('a small session is read once: the same messages are yielded again, even if the file has changed', async () => {
  const path = writeSession(folder, 's-1.jsonl', lines)
  const session = await read(path)
  assert.ok(session.isKept)
  writeFileSync(path, lines.join('\n').replace('hello', 'HELLO'))
  const first = await Array.fromAsync(session.messages({ again: true }))
  const second = await Array.fromAsync(session.messages({ again: true }))
  const third = await Array.fromAsync(session.messages())
  assert.is(first.length, 2)
  for (const [index, message] of first.entries()) {
    assert.is(second[index], message)
    assert.is(third[index], message)
  }
  assert.is(session.resume?.(), undefined)
  const [changed] = await Array.fromAsync(session.messages())
  assert.equal(changed?.parts, [{ type: 'text', content: { text: 'HELLO' } }])
})

test('a large session is not kept in memory, and yields the same messages again', async () => {
  const many = Array.from({ length: 300 }, (_, index) => userLine(`u-${index}`, 'x'.repeat(10_000)))
  const session = await read(writeSession(folder, 's-2.jsonl', many))
  assert.not(session.isKept)
  const first = await Array.fromAsync(session.messages({ again: true }))
  assert.is(first.length, 300)
  assert.equal(await Array.fromAsync(session.messages()), first)
})

test('a session has a position to resume from once its messages were yielded the first time', async () => {
  const path = writeSession(folder, 's-3.jsonl', lines)
  const session = await read(path)
  await Array.fromAsync(session.messages({ again: true }))
  const resume = session.resume?.()
  await Array.fromAsync(session.messages())
  assert.is(session.resume?.(), resume)
  assert.ok((await readFrom(claudeCode, path, resume)).isResumed)
})

test.run()
