import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSession } from '../../support/read-session.ts'
import { answerLine, call, line, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('lines and ids of a Claude Code session')
const { path, remove } = tempFolder()
test.after(remove)

const read = (...lines: string[]) => readSession(writeSession(path, 's-1.jsonl', lines))
const messages = async (...lines: string[]) => (await read(...lines)).messages
const ids = async (...lines: string[]) => (await messages(...lines)).map(({ externalId }) => externalId)
const partsOf = async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts)

test('a line with the uuid of an earlier line is skipped as a replay (rule 1)', async () => {
  assert.equal(await ids(userLine('u-1', 'one'), userLine('u-1', 'one again'), userLine('u-2', 'two')), ['u-1', 'u-2'])
})

test('inline sidechains are skipped in a session file (rule 2)', async () => {
  assert.equal(await ids(userLine('u-1', 'mine'), userLine('u-2', 'its', { isSidechain: true })), ['u-1'])
})

test('a sub-agent with a file of its own becomes a separate trace (rule 2)', async () => {
  const file = writeSession(path, 'agent-a1.jsonl', [userLine('u-1', 'search', { isSidechain: true })])
  const { session, messages } = await readSession(file)
  assert.is(session.externalId, 'agent-a1')
  assert.is(messages.length, 1)
})

test('the parent of a sub-agent is the session whose folder holds its file, else the session named in its lines (rule 9)', async () => {
  const parentOf = async (folder: string, file: string, sessionId: string) => {
    const lines = [userLine('u-1', 'search', { isSidechain: true, sessionId })]
    return (await readSession(writeSession(folder, file, lines))).session.trace.parentExternalId
  }
  assert.is(await parentOf(path, 'agent-a2.jsonl', 's-1'), 's-1')
  assert.is(await parentOf(path, 's-2.jsonl', 's-2'), undefined)
  for (const below of ['s-3/subagents', 's-3/subagents/workflows/w-1']) {
    const folder = join(path, below)
    mkdirSync(folder, { recursive: true })
    for (const sessionId of ['s-3', 'agent-a3']) assert.is(await parentOf(folder, 'agent-a3.jsonl', sessionId), 's-3')
  }
})

test('messages of all branches are read (rule 8)', async () => {
  assert.equal(await ids(userLine('u-1', 'a', { parentUuid: null }), userLine('u-2', 'b', { parentUuid: null })), [
    'u-1',
    'u-2',
  ])
})

test('a line without a uuid gets an id made from its content, which stays the same when the file grows (rule 9)', async () => {
  const plain = line({ type: 'user', message: { content: 'same' } })
  const before = await ids(plain, plain)
  assert.is(new Set(before).size, 2)
  assert.match(before[0]!, /^line-/)
  assert.equal((await ids(plain, plain, plain)).slice(0, 2), before)
})

test('an answer without a message id is a message of its own, and results are matched in order to its calls without ids', async () => {
  const answer = (uuid: string, name: string) =>
    line({ type: 'assistant', uuid, message: { content: [text('go'), { type: 'tool_use', name, input: 'ls' }] } })
  const nameless = { type: 'tool_result', content: 'ok' }
  const found = await partsOf(answer('a-1', 'bash'), answer('a-2', 'grep'), userLine('u-1', [nameless, nameless]))
  const calls = found.flatMap((part) => (part.type === 'tool_call' || part.type === 'tool_result' ? part.content : []))
  assert.equal(
    calls.map(({ callId, toolName }) => [callId, toolName]),
    [
      ['a-1-call-2', 'bash'],
      ['a-2-call-2', 'grep'],
      ['a-1-call-2', 'bash'],
      ['a-2-call-2', 'grep'],
    ],
  )
  assert.equal(found[1]?.type === 'tool_call' && found[1].content.args, { input: 'ls' })
})

test('an id that the service would refuse is replaced', async () => {
  const [long, empty] = await ids(userLine('x'.repeat(1_025), 'a'), answerLine('nul\0', '', [text('b')]))
  assert.match(long!, /^line-/)
  assert.match(empty!, /^line-/)
})

test('the arguments of a tool call keep exact numbers and __proto__ keys', async () => {
  const found = await partsOf(
    answerLine('a-1', 'm-1', [call('t-1', 'X', { n: 'BIG', p: 'PROTO' })])
      .replace('"BIG"', '12345678901234567890')
      .replace('"p":', '"__proto__":'),
  )
  assert.match(JSON.stringify(found), '"args":{"n":12345678901234567890,"__proto__":"PROTO"}')
})

test.run()
