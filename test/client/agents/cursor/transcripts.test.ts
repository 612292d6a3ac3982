import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cursor } from '../../../../src/client/agents/cursor/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { readSession, readSessions } from '../../support/read-session.ts'
import { sharedData } from '../../support/shared-data.ts'
import { tempFolder } from '../../support/temp.ts'
import { cursorDatabase, typed } from './database-file.ts'

const test = suite('transcripts of Cursor')
const { path: root, remove } = tempFolder()
test.after(remove)

const write = (file: string, text: string) => {
  const path = join(root, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
const line = (role: string, ...content: readonly unknown[]) => JSON.stringify({ role, message: { content } })
const text = (value: string) => ({ type: 'text', text: value })
const read = (...lines: readonly string[]) =>
  readSession(write('agent-transcripts/s-1.jsonl', lines.map((one) => `${one}\n`).join('')), cursor)
const partsOf = async (...lines: readonly string[]) => (await read(...lines)).messages.flatMap(({ parts }) => parts)

test('lines with a role are messages, others are skipped; a tag holds the text typed by the user (rule 6)', async () => {
  const { session, messages } = await read(
    line('user', text('<user_info>OS</user_info>')),
    line('user', text('<rules>x</rules>\n<user_query>\nFix it\n</user_query>')),
    line('assistant', { type: 'thinking', thinking: 'Look.' }, text('Done.'), { type: 'later', text: 'x' }),
    '{"type":"turn_ended","status":"success"}',
    JSON.stringify({ role: 'user', message: { content: 'plain' } }),
    JSON.stringify({ role: 'system', message: { content: 'instructions' } }),
  )
  assert.equal(session.trace, { agentId: 'cursor', title: 'Fix it' })
  assert.is(session.externalId, 'transcript-s-1')
  assert.equal(
    messages.map(({ role, order, parts }) => [
      role,
      order,
      parts.map(({ content }) => 'text' in content && content.text),
    ]),
    [
      ['user', 2, ['Fix it']],
      ['assistant', 3, ['Look.', 'Done.']],
      ['user', 5, ['plain']],
    ],
  )
})

test('ids are made from the lines, and stay the same when the file grows (rule 10)', async () => {
  const idsOf = async (...lines: readonly string[]) =>
    (await read(...lines)).messages.map(({ externalId }) => externalId)
  const same = line('user', text('again'))
  const before = await idsOf(same, same)
  assert.is(new Set(before).size, 2)
  assert.equal((await idsOf(same, same, line('assistant', text('new')))).slice(0, 2), before)
})

test('results are matched to calls by id, else in order (rule 6)', async () => {
  const results = await partsOf(
    line(
      'assistant',
      { type: 'tool_use', name: 'Bash', input: { command: 'ls' } },
      { type: 'tool_use', name: 'Read', input: {}, id: 'r-1' },
    ),
    line('user', { type: 'tool_result', tool_use_id: 'r-1', content: 'file', is_error: true }),
    line('user', {
      type: 'tool_result',
      tool_use_id: 't-9',
      content: [text('a.ts'), { type: 'image', source: { media_type: 'image/png', data: 'QUFB' } }],
    }),
    line('user', { type: 'tool-result', name: 'grep', content: 'none' }),
  )
  const [bash] = results
  assert.is(bash?.type, 'tool_call')
  const callId = bash?.type === 'tool_call' ? bash.content.callId : ''
  assert.match(callId, /^line-.*-call-1$/)
  assert.equal(
    results.slice(2).map(({ content }) => content),
    [
      { callId: 'r-1', toolName: 'Read', output: 'file', status: 'error' },
      { callId, toolName: 'Bash', output: 'a.ts\n[image image/png 1 kB]', status: 'success' },
      { callId: 'unknown', toolName: 'grep', output: 'none', status: 'success' },
    ],
  )
})

test('numbers stay exact, and binary content is not sent (rule 8)', async () => {
  const data = 'QUFB'.repeat(1_000)
  const call = line('assistant', {
    type: 'tool_use',
    name: 'x',
    input: { n: 'BIG', url: `data:image/png;base64,${data}` },
  })
  const found = JSON.stringify(
    await partsOf(
      call.replace('"BIG"', '12345678901234567890'),
      line('user', { type: 'image', source: { media_type: 'image/png', data } }),
    ),
  )
  assert.not.match(found, /QUFBQUFB/)
  assert.match(found, '"args":{"n":12345678901234567890,"url":"[image image/png 4 kB]"}')
  assert.match(found, '"text":"[image image/png 4 kB]"')
})

test('damaged lines are skipped and reported; an incomplete last line is not reported (rule 9)', async () => {
  const path = write('agent-transcripts/s-2.jsonl', `{"role":\n${line('user', text('a'))}\n{"role":"assistant","mess`)
  const { malformed, messages } = await readSession(path, cursor)
  assert.equal([malformed, messages.length], [[1], 1])
})

test('in plain text each line with a role starts a message, whose id stays the same when the file grows (rules 6 and 10)', async () => {
  const textOf = (content: string) => readSession(write('agent-transcripts/s-3.txt', content), cursor)
  const start = 'header\nuser:\n<user_query>\nFix it: user: x\n</user_query>\n\nassistant:\r\nLook\u2028ing.\n'
  const before = (await textOf(start)).messages
  assert.equal(
    before.map(({ role, order, parts }) => [role, order, parts]),
    [
      ['user', 2, [{ type: 'text', content: { text: 'Fix it: user: x' } }]],
      ['assistant', 7, [{ type: 'text', content: { text: 'Look\u2028ing.' } }]],
    ],
  )
  const after = (await textOf(`${start}More.\nuser:\n \nuser:\nFix it: user: x`)).messages
  assert.equal(
    after.slice(0, 2).map(({ externalId }) => externalId),
    before.map(({ externalId }) => externalId),
  )
  assert.equal(after[1]!.parts[0]!.content, { text: 'Look\u2028ing.\nMore.' })
  assert.is(after.length, 3)
  assert.is(new Set(after.map(({ externalId }) => externalId)).size, 3)
})

test('if a session has several transcripts, only one is read (rule 7)', async () => {
  const folder = join('several', 'agent-transcripts')
  for (const file of ['a.txt', 'a.jsonl', 'a/a.jsonl', 'b.txt', 'b.jsonl', 'c.txt', 'c/c.txt'])
    write(join(folder, file), `user:\n`)
  const found = await findSessionFiles([cursor], [join(root, folder)], { env: {}, home: root }, () => {})
  assert.equal(
    found.map(({ path }) => path.slice(join(root, folder).length + 1)),
    ['a/a.jsonl', 'b.jsonl', 'c/c.txt'],
  )
})

test('a session that is also in the database of the same home folder is read only from there (rule 7)', async () => {
  const inHome = (home: string) => {
    const transcripts = join(home, '.cursor', 'projects', 'w-my-app', 'agent-transcripts')
    return {
      path: join(root, home, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb'),
      countOf: async (id: string) => {
        const file = write(join(transcripts, id, `${id}.jsonl`), `${line('user', text('Fix it'))}\n`)
        return (await readSessions(file, cursor)).length
      },
    }
  }
  assert.is(await inHome('without').countOf('c-1'), 1)
  const { path, countOf } = inHome('with')
  const writer = cursorDatabase(path)
  writer.composer('c-1', ['b-1'])
  writer.bubble('c-1', 'b-1', typed('Fix it'))
  writer.composer('c-2', [])
  assert.equal([await countOf('c-1'), await countOf('c-2')], [0, 1])
  writer.close()
  const damaged = inHome('damaged')
  mkdirSync(dirname(damaged.path), { recursive: true })
  writeFileSync(damaged.path, 'damaged'.repeat(1_000))
  assert.is(await damaged.countOf('c-1'), 1)
})

test('the project is the editor’s workspace whose path matches the folder’s name, if only one matches (rule 11)', async () => {
  const path = write(
    join('named', '.cursor', 'projects', 'w-my-app', 'agent-transcripts', 's.jsonl'),
    `${line('user', text('a'))}\n`,
  )
  const workspace = (hash: string, folder: string) =>
    write(
      join('named', '.config', 'Cursor', 'User', 'workspaceStorage', hash, 'workspace.json'),
      JSON.stringify({ folder }),
    )
  const projectOf = async () => (await readSession(path, cursor)).session.trace.projectPath
  assert.is(await projectOf(), undefined)
  workspace('1', 'file:///w/other')
  workspace('2', 'file:///w/my.app')
  assert.is(await projectOf(), '/w/my.app')
  workspace('3', 'file:///w/my/app')
  assert.is(await projectOf(), undefined)
})

const shared = sharedData()
if (!shared) test.skip('no recorded sessions beside the repository')

const recorded: readonly (readonly [string, string])[] = [
  ['small.jsonl', 'user:text assistant:text user:text assistant:text,tool_call'],
  [
    'large.jsonl',
    'user:text assistant:thinking,text,tool_call user:Bash assistant:text user:text assistant:tool_call user:Read assistant:text user:text assistant:text',
  ],
  ['schema_drift.jsonl', 'user:text assistant:thinking,tool_call user:read_file assistant:text'],
  ['subagent/parent.jsonl', 'user:text assistant:text,tool_call'],
  ['subagent/subagents/child.jsonl', 'user:text assistant:text'],
]
for (const [file, expected] of shared ? recorded : [])
  test(`the recorded file ${file} gives its messages`, async () => {
    const { messages, malformed } = await readSession(join(shared!, 'agents', 'cursor', 'agent-sessions', file), cursor)
    assert.equal(malformed, [])
    const parts = messages.map(
      ({ role, parts }) =>
        `${role}:${parts.map((part) => (part.type === 'tool_result' ? part.content.toolName : part.type)).join()}`,
    )
    assert.is(parts.join(' '), expected)
    assert.is(new Set(messages.map(({ externalId }) => externalId)).size, messages.length)
  })

test.run()
