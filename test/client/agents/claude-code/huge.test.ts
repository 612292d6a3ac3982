import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newWorld } from '../../support/client-world.ts'
import { readSession } from '../../support/read-session.ts'
import { answerLine, line, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('a Claude Code session with very many tags, parts or calls')
const { path, remove } = tempFolder()
test.after(remove)

const read = (...lines: string[]) => readSession(writeSession(path, 's-1.jsonl', lines))
const sizes = [10_000, 100_000]

test('context that an editor adds before a prompt is removed, even if it is repeated very often', async () => {
  for (const size of sizes)
    for (const tag of [
      '<ide_selection></ide_selection>',
      '<ide_opened_file>a</ide_opened_file>\n <ide_selection></ide_selection>\n',
    ]) {
      const { session, messages } = await read(userLine('u-1', `${tag.repeat(size)}Fix it`))
      assert.is(session.trace.title, 'Fix it')
      assert.equal(
        messages.map(({ parts }) => parts),
        [[{ type: 'text', content: { text: 'Fix it' } }]],
      )
      const { messages: none } = await read(userLine('u-1', tag.repeat(size)))
      assert.equal(none, [])
    }
})

test('unclosed tags are kept as text that the user typed', async () => {
  for (const size of sizes) {
    const typed = '<ide_selection>'.repeat(size)
    const { messages } = await read(userLine('u-1', typed))
    assert.is(messages[0]!.parts.length, 1)
  }
})

test('a session whose prompt has very many editor tags is uploaded', async () => {
  const world = await newWorld()
  for (const size of sizes)
    writeSession(world.sessions, `s-${size}.jsonl`, [
      userLine(`u-${size}`, `${'<ide_selection></ide_selection>'.repeat(size)}Fix it`, { sessionId: `s-${size}` }),
    ])
  const { summary } = await world.sync()
  assert.equal([summary.synced, summary.failed, summary.new, summary.exitCode], [2, 0, 2, 0])
  await world.close()
})

test('all parts of an answer are kept, whether they are in one line or in several', async () => {
  for (const size of sizes) {
    const blocks = Array.from({ length: size }, (_, index) => text(`${index}`))
    const { messages } = await read(answerLine('a-1', 'm-1', blocks), answerLine('a-2', 'm-1', [text('end')]))
    assert.equal(
      messages.map(({ parts }) => parts.length),
      [size + 1],
    )
  }
})

test('results are matched in order to calls without an id; a result before any call matches none', async () => {
  const result = { type: 'tool_result', content: 'ok' }
  for (const size of sizes) {
    const calls = Array.from({ length: size }, (_, index) => ({ type: 'tool_use', name: `t-${index}`, input: {} }))
    const { messages } = await read(
      userLine('u-0', [result]),
      line({ type: 'assistant', uuid: 'a-1', message: { content: calls } }),
      userLine(
        'u-1',
        calls.map(() => result),
      ),
    )
    const names = messages.map(({ parts }) => {
      const last = parts.at(-1)
      return last?.type === 'tool_result' || last?.type === 'tool_call' ? last.content.toolName : undefined
    })
    assert.equal(names, ['unknown', `t-${size - 1}`, `t-${size - 1}`])
  }
})

test('a deeply nested line does not make the session fail', async () => {
  for (const size of sizes) {
    const deep = `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`
    const exact = deep.replace('1', '12345678901234567890')
    const answers = [deep, exact].map((args, index) =>
      answerLine(`a-${index}`, `m-${index}`, [{ type: 'tool_use', id: 't', name: 'X', input: 'DEEP' }]).replace(
        '"DEEP"',
        () => args,
      ),
    )
    const { messages } = await read(userLine('u-1', 'Fix it'), ...answers)
    assert.is(messages[0]!.externalId, 'u-1')
  }
})

test.run()
