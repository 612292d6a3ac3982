import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { qwenCode } from '../../../../src/client/agents/qwen-code/index.ts'
import { answer, reader, system, text, typed } from '../../support/qwen-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the trace of a Qwen Code session')
const { path, remove } = tempFolder()
test.after(remove)
const { read, trace } = reader(path)

test('sessions are looked for where the variables say, without archived ones being left out', () => {
  assert.equal(qwenCode.roots({}, '/home/me'), ['/home/me/.qwen/projects'])
  assert.equal(qwenCode.roots({ QWEN_HOME: '/q', QWEN_RUNTIME_DIR: '/r' }, '/home/me'), ['/q/projects', '/r/projects'])
  const is = (file: string) => qwenCode.isSessionFile(join('/home/me/.qwen/projects/-w-app', file))
  for (const file of ['chats/s-1.jsonl', 'chats/archive/s-1.jsonl', 'subagents/s-1/agent-x-1.jsonl'])
    assert.ok(is(file), file)
  for (const file of [
    'chats/s-1.pr.json',
    'chats/.s-1.tmp.jsonl',
    'subagents/s-1/agent-x-1.jsonl.stream',
    'meta.jsonl',
  ])
    assert.not(is(file), file)
  assert.equal(
    ['-w-app', '-w-app/chats', '-w-app/subagents', '-w-app/memory'].map((folder) => qwenCode.skipsFolder?.(folder)),
    [false, false, false, true],
  )
})

test('the folder is that of the first record, the branch that of the last one, the title that which was given last (rule 11)', async () => {
  const lines = [
    typed('u-1', null, 'Make it'),
    answer('a-1', 'u-1', [text('x')], { cwd: '/w/other', gitBranch: 'side' }),
    answer('a-2', 'a-1', [text('y')], { model: 'other', gitBranch: 'side' }),
    answer('a-3', 'a-2', [text('z')], { model: 'other', gitBranch: undefined }),
  ]
  const { session } = await read(...lines)
  assert.is(session.externalId, 's-1')
  assert.equal(session.trace, {
    agentId: 'qwen-code',
    title: 'Make it',
    projectPath: '/w/app',
    model: 'other',
    gitBranch: 'side',
    projectName: 'app',
  })
  const named = await trace(
    ...lines,
    system('t-1', 'a-3', 'custom_title', { customTitle: 'first', titleSource: 'auto' }),
    system('t-2', 'a-3', 'custom_title', { customTitle: 'second', titleSource: 'manual' }),
  )
  assert.is(named.title, 'second')
})

test('a fork comes from the session that its records were copied from (rule 10)', async () => {
  const forkedFrom = { sessionId: 's-0', messageUuid: 'u-1' }
  const { session, messages } = await read(typed('u-1', null, 'copied', { forkedFrom }), typed('u-2', 'u-1', 'own'))
  const { parentExternalId, parentKind } = session.trace
  assert.equal([session.externalId, parentExternalId, parentKind], ['s-1', 's-0', 'fork'])
  assert.is(messages.length, 2, 'what the file has is stored')
})

test('a session that another one started comes from that (rule 10)', async () => {
  const lines = [system('p-1', null, 'parent_session', { parentSessionId: 's-9' }), typed('u-1', 'p-1', 'hello')]
  const { parentExternalId, parentKind } = await trace(...lines)
  assert.equal([parentExternalId, parentKind], ['s-9', undefined])
})

test('a sub-agent is a trace of its own, with what it was to do as its title (rules 10 and 11)', async () => {
  const name = 'agent-general-purpose-call_1'
  const helper = reader(path, join('subagents', 's-1', `${name}.jsonl`))
  const side = { isSidechain: true, provenance: undefined, agentId: 'general-purpose-call_1' }
  const lines = [
    typed('u-1', null, 'Count the files in this folder.', side),
    answer('a-1', 'u-1', [text('three')], { ...side, model: undefined }),
  ]
  const alone = await helper.read(...lines)
  assert.equal([alone.session.externalId, alone.session.trace.parentExternalId], [name, 's-1'])
  assert.is(alone.session.trace.title, 'Count the files in this folder.')
  assert.equal(
    alone.messages.map(({ role }) => role),
    ['user', 'assistant'],
  )
  const meta = join(path, 'subagents', 's-1', `${name}.meta.json`)
  writeFileSync(
    meta,
    JSON.stringify({
      description: 'Count the files',
      parentAgentId: null,
      toolUseId: 'call_1',
      model: 'qwen3-coder-plus',
    }),
  )
  const { title, model, parentExternalId, parentCallId } = await helper.trace(...lines)
  assert.equal([title, model], ['Count the files', 'qwen3-coder-plus'])
  assert.equal([parentExternalId, parentCallId], ['s-1', 'call_1'])
  writeFileSync(meta, JSON.stringify({ description: 'Count the files', parentAgentId: 'general-purpose-call.0' }))
  assert.is((await helper.trace(...lines)).parentExternalId, 'agent-general-purpose-call_0')
})

test.run()
