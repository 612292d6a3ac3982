import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { copilotCli } from '../../../src/client/agents/copilot-cli/index.ts'
import { cursor } from '../../../src/client/agents/cursor/index.ts'
import { geminiCli } from '../../../src/client/agents/gemini-cli/index.ts'
import { opencode } from '../../../src/client/agents/opencode/index.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { qwenCode } from '../../../src/client/agents/qwen-code/index.ts'
import { newUnknownKinds } from '../../../src/client/agents/support/unknown-kinds.ts'
import * as codexFile from '../support/codex-file.ts'
import * as copilotFile from '../support/copilot-file.ts'
import { readSession } from '../support/read-session.ts'
import { answerLine, call, line, result, text, userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'
import { answer, metadata, record, typed } from './gemini-cli/records.ts'
import { cursorDatabase, typed as typedBubble } from './cursor/database-file.ts'
import { answerInfo, opencodeDatabase, text as part } from './opencode/database-file.ts'

const test = suite('kinds that a parser does not know')
const { path: folder, remove } = tempFolder()
test.after(remove)

const put = (name: string, lines: readonly string[]) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((one) => `${one}\n`).join(''))
  return path
}
const json = (...lines: readonly object[]) => lines.map((one) => JSON.stringify(one))
const time = '2026-02-01T10:00:00.000Z'
const entry = (type: string, more: object) => ({ type, id: `e-${type}`, timestamp: time, ...more })
const qwen = (type: string, parts: readonly object[]) => ({
  ...{ uuid: `u-${type}`, parentUuid: null, sessionId: 's-1', timestamp: time, type },
  message: { role: 'user', parts },
})

/** For each agent that writes lines a file with some kinds that are not known, and these. */
const files: readonly (readonly [Agent, string, readonly string[], Readonly<Record<string, number>>])[] = [
  [
    claudeCode,
    's-1.jsonl',
    [
      userLine('u-1', [text('hello'), { type: 'hologram', text: 'x' }]),
      answerLine('a-1', 'm-1', [text('hi'), { type: 'song' }, { type: 'song' }]),
      line({ type: 'dream' }),
      line({ type: 'attachment', attachment: { type: 'of any kind' } }),
    ],
    { hologram: 1, song: 2, dream: 1 },
  ],
  [
    codex,
    'rollout-s.jsonl',
    [
      codexFile.prompt('hello'),
      codexFile.item({ type: 'message', role: 'assistant', content: [{ type: 'song' }] }),
      codexFile.item({ type: 'dream' }),
      codexFile.line('weather', {}),
      codexFile.event('of any kind'),
    ],
    { song: 1, dream: 1, weather: 1 },
  ],
  [
    geminiCli,
    'chats/session-1.jsonl',
    [metadata(), typed('m-1', 'hello'), answer('m-2', [{ executableCode: {} }]), record('m-3', 'dream', 'x')],
    { executableCode: 1, dream: 1 },
  ],
  [
    qwenCode,
    'chats/s-1.jsonl',
    json(qwen('dream', []), qwen('user', [{ text: 'hello' }, { song: {} }])),
    { song: 1, dream: 1 },
  ],
  [
    pi,
    's_1.jsonl',
    json(
      entry('session', { cwd: '/w', version: 3 }),
      entry('message', { message: { role: 'user', content: [{ type: 'text', text: 'hello' }, { type: 'song' }] } }),
      entry('message', { id: 'e-2', message: { role: 'dream', content: [] } }),
      entry('weather', {}),
    ),
    { song: 1, dream: 1, weather: 1 },
  ],
  [
    copilotCli,
    'session-state/s-1/events.jsonl',
    [
      copilotFile.start(),
      copilotFile.prompt('e-1', 'hello'),
      copilotFile.event('e-2', 'user.song', {}),
      copilotFile.event('e-3', 'session.of_any_kind', {}),
    ],
    { 'user.song': 1 },
  ],
  [
    cursor,
    'agent-transcripts/s-1/s-1.jsonl',
    json({ role: 'user', message: { content: [text('hello'), { type: 'song' }] } }, { role: 'dream', message: {} }),
    { song: 1, dream: 1 },
  ],
]

for (const [agent, name, lines, kinds] of files)
  test(`${agent.name}: they are counted, and what is known is read`, async () => {
    const { session, messages } = await readSession(put(join(agent.id, name), lines), agent)
    assert.equal(Object.fromEntries(session.leftOut ?? []), kinds)
    assert.ok(messages.length > 0)
  })

test('in databases, too', async () => {
  const path = join(folder, 'opencode.db')
  const database = opencodeDatabase(path)
  database.session('ses_1')
  database.message('ses_1', 'msg_1', answerInfo)
  database.part('ses_1', 'msg_1', 'prt_1', part('hi'))
  database.part('ses_1', 'msg_1', 'prt_2', { type: 'song' })
  database.part('ses_1', 'msg_1', 'prt_3', { type: 'step-start' })
  database.message('ses_1', 'msg_2', { role: 'dream' })
  const { leftOut } = (await readSession(path, opencode)).session
  database.close()
  assert.equal(Object.fromEntries(leftOut ?? []), { song: 1, dream: 1 })

  const file = join(folder, 'cursor', 'state.vscdb')
  const { composer, bubble, close } = cursorDatabase(file)
  composer('c-1', ['b-1', 'b-2'])
  bubble('c-1', 'b-1', typedBubble('hello'))
  bubble('c-1', 'b-2', { type: 7, text: 'x' })
  const found = (await readSession(file, cursor)).session.leftOut
  close()
  assert.equal(Object.fromEntries(found ?? []), { 'bubble-7': 1 })
})

test('reading on counts those of the whole session', async () => {
  const path = put('grows.jsonl', [userLine('u-1', 'hello'), line({ type: 'dream' })])
  const read = async (from: object | undefined) => {
    const [stored] = await Array.fromAsync(claudeCode.sessions(path))
    const session = await stored!.read({ onMalformed: () => {}, goOn: { from } })
    await Array.fromAsync(session.messages())
    return session
  }
  const first = await read(undefined)
  appendFileSync(path, `${userLine('u-2', 'again')}\n${line({ type: 'dream' })}\n${line({ type: 'song' })}\n`)
  const next = await read(first.live?.())
  assert.is(next.isContinued, true)
  assert.equal(
    [Object.fromEntries(first.leftOut ?? []), Object.fromEntries(next.leftOut ?? [])],
    [{ dream: 1 }, { dream: 2, song: 1 }],
  )
})

test('a kind is named only where it is a name, and the number of kinds is bounded', () => {
  const unknown = newUnknownKinds()
  for (const kind of ['a b', 'x'.repeat(61), undefined, { secret: 1 }]) unknown.add(kind)
  assert.equal(Object.fromEntries(unknown.counts()), { other: 4 })
  for (let number = 0; number < 500; number++) unknown.add(`kind-${number}`)
  assert.is(unknown.counts().size, 100)
})

test('Claude Code: tools that the provider runs are calls with results, without what is encrypted', async () => {
  const used = (type: string, id: string, name: string, more: object = {}) => ({ type, id, name, input: {}, ...more })
  const page = {
    type: 'web_search_result',
    title: 'LRU-PAGE',
    url: 'https://docs.example.org/lru',
    encrypted_content: 'EqQB',
  }
  const { session, messages } = await readSession(
    put('server.jsonl', [
      answerLine('a-1', 'm-1', [used('server_tool_use', 's-1', 'advisor')]),
      answerLine('a-2', 'm-1', [
        { type: 'advisor_tool_result', tool_use_id: 's-1', content: { type: 'advisor_result', text: 'ADVICE' } },
      ]),
      answerLine('a-3', 'm-2', [
        used('server_tool_use', 's-2', 'web_search'),
        { type: 'web_search_tool_result', tool_use_id: 's-2', content: [page] },
        used('mcp_tool_use', 's-3', 'lookup', { server_name: 'wiki' }),
        { type: 'mcp_tool_result', tool_use_id: 's-3', is_error: false, content: [text('WIKI')] },
        used('server_tool_use', 's-4', 'web_search'),
        {
          ...{ type: 'web_search_tool_result', tool_use_id: 's-4' },
          content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
        },
      ]),
    ]),
  )
  assert.is(session.leftOut, undefined)
  assert.equal(
    messages.flatMap(({ parts }) =>
      parts.map((one) => {
        if (one.type === 'tool_call') return one.content.toolName
        return one.type === 'tool_result' && [one.content.toolName, one.content.output, one.content.status]
      }),
    ),
    [
      ...['advisor', ['advisor', 'ADVICE', 'success']],
      ...['web_search', ['web_search', 'LRU-PAGE\nhttps://docs.example.org/lru', 'success']],
      ...['mcp__wiki__lookup', ['mcp__wiki__lookup', 'WIKI', 'success']],
      ...['web_search', ['web_search', 'max_uses_exceeded', 'error']],
    ],
  )
  assert.not.match(JSON.stringify(messages), /EqQB/)
})

test('Claude Code: a sub-agent within the file of its session of which no call tells is named as left out', async () => {
  const { session, messages } = await readSession(
    put('inline.jsonl', [
      userLine('u-1', 'review it with a helper'),
      answerLine('a-1', 'm-1', [call('t-1', 'Task', { prompt: 'read parser.ts' })]),
      userLine('u-2', 'Warmup', { isSidechain: true, parentUuid: null }),
      answerLine('a-2', 'm-2', [text('Ready.')], { isSidechain: true, parentUuid: 'u-2' }),
      userLine('u-3', [result('t-1', 'one bug found')]),
    ]),
  )
  assert.equal(Object.fromEntries(session.leftOut ?? []), { 'sub-agent-within-the-session': 2 })
  assert.equal(
    messages.map(({ externalId }) => externalId),
    ['u-1', 'm-1', 'u-3'],
  )
})

test.run()
