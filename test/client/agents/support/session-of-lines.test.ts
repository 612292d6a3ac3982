import { appendFileSync, copyFileSync, renameSync, writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReadOptions } from '../../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import { readFrom } from '../../support/added-lines.ts'
import { answerLine, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('a session stored as lines')
const { path: folder, remove } = tempFolder()
test.after(remove)

const read = async (path: string, goOn?: ReadOptions['goOn']) => {
  const [stored] = await Array.fromAsync(claudeCode.sessions(path))
  return stored!.read({ onMalformed: () => {}, goOn })
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

test('a reading can be gone on with once its messages were yielded, if that was asked for', async () => {
  const path = writeSession(folder, 's-3.jsonl', lines)
  const session = await read(path, { from: undefined })
  assert.is(session.live?.(), undefined)
  await Array.fromAsync(session.messages({ again: true }))
  assert.ok((await readFrom(claudeCode, path, session.live?.())).isContinued)
  const alone = await read(path)
  await Array.fromAsync(alone.messages())
  assert.is(alone.live?.(), undefined)
})

test('a reading is not gone on with if its file was replaced by a copy, or its last line has no newline', async () => {
  const path = writeSession(folder, 's-4.jsonl', lines)
  const { live } = await readFrom(claudeCode, path)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  assert.not((await readFrom(claudeCode, path, live)).isContinued)
  appendFileSync(path, userLine('u-9', 'not ended'))
  assert.is((await readFrom(claudeCode, path)).live, undefined)
})

test.run()
