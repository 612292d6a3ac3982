import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { geminiCli } from '../../../src/client/agents/gemini-cli/index.ts'
import { stampOf } from '../../../src/client/agents/support/files.ts'
import { opencode } from '../../../src/client/agents/opencode/index.ts'
import { call, event, item, meta, output, text, uuidAt, write } from '../support/codex-file.ts'
import { readSession, readSessions } from '../support/read-session.ts'
import { userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'
import { answer, call as geminiCall, metadata, typed } from './gemini-cli/records.ts'
import { answerInfo, opencodeDatabase, text as part, tool, userInfo } from './opencode/database-file.ts'

const test = suite('the call that started a sub-agent')
const { path: folder, remove } = tempFolder()
test.after(remove)

const put = (name: string, content: string) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}
const stamp = async (agent: Agent, path: string) => {
  const [stored] = await Array.fromAsync(agent.sessions(path))
  return stampOf(stored!)
}

test('Claude Code stores it beside the file of the sub-agent, which is read again once it is there', async () => {
  const path = put('s-1/subagents/agent-a1.jsonl', `${userLine('u-1', 'count', { isSidechain: true })}\n`)
  const callIdOf = async () => (await readSession(path, claudeCode)).session.trace.parentCallId
  const before = await stamp(claudeCode, path)
  assert.is(await callIdOf(), undefined)
  put('s-1/subagents/agent-a1.meta.json', JSON.stringify({ agentType: 'general-purpose', toolUseId: 'toolu_1' }))
  assert.is(await callIdOf(), 'toolu_1')
  assert.is.not(await stamp(claudeCode, path), before)
  put('s-1/subagents/agent-a1.meta.json', '{"toolUse')
  assert.is(await callIdOf(), undefined)
})

test('Gemini CLI names the sub-agent beside the call once it has ended', async () => {
  const [parent, child] = ['72765b6f-96b5-4e8c-9c14-343d44bf149b', '76aa305f-007f-4c88-8ccb-a0c62d7dd0db']
  const path = put(
    `p/chats/${parent}/${child}.jsonl`,
    `${metadata({ sessionId: child, kind: 'subagent' })}\n${typed('m-1', 'count')}\n`,
  )
  const started = [metadata({ sessionId: parent }), typed('m-1', 'have it counted')]
  const parentName = 'p/chats/session-2026-11-28T15-03-72765b6f.jsonl'
  put(parentName, text(started))
  const before = await stamp(geminiCli, path)
  assert.is((await readSession(path, geminiCli)).session.trace.parentCallId, undefined)
  const calls = { toolCalls: [geminiCall('c-1', 'ls'), geminiCall('c-2', 'invoke_agent', { agentId: child })] }
  put(parentName, text([...started, answer('m-2', 'I have it counted.', calls)]))
  const { trace } = (await readSession(path, geminiCli)).session
  assert.equal([trace.parentExternalId, trace.parentCallId], [parent, 'c-2'])
  assert.is.not(await stamp(geminiCli, path), before)
})

test('opencode names the sub-agent in the state of the call', async () => {
  const path = join(folder, 'opencode.db')
  const database = opencodeDatabase(path)
  database.session('ses_1')
  database.session('ses_2', { parent: 'ses_1' })
  database.session('ses_3', { parent: 'ses_1' })
  database.message('ses_1', 'msg_1', answerInfo)
  database.part('ses_1', 'msg_1', 'prt_1', tool('c-1', 'bash', { status: 'completed', output: 'ses_2' }))
  database.part('ses_1', 'msg_1', 'prt_2', tool('c-2', 'task', { status: 'running', metadata: { sessionId: 'ses_2' } }))
  const output = '<task id="ses_3" state="completed">\n3\n</task>'
  database.part('ses_1', 'msg_1', 'prt_3', tool('c-3', 'task', { status: 'completed', output }))
  for (const id of ['ses_2', 'ses_3']) {
    database.message(id, `msg_${id}`, userInfo)
    database.part(id, `msg_${id}`, `prt_${id}`, part('count'))
  }
  const found = await readSessions(path, opencode)
  database.close()
  assert.equal(
    found.map(({ session }) => session.trace.parentCallId),
    [undefined, 'c-2', 'c-3'],
  )
})

test('the files of older versions of opencode name it, too', async () => {
  const stored = (name: string, value: object) => put(`old/storage/${name}.json`, JSON.stringify(value))
  const path = stored('session/p/ses_2', { id: 'ses_2', projectID: 'p', directory: '/w/app', parentID: 'ses_1' })
  stored('message/ses_1/msg_1', { id: 'msg_1', role: 'assistant', time: { created: 1 } })
  stored('part/msg_1/prt_1', {
    ...{ id: 'prt_1', type: 'tool', callID: 'c-1', tool: 'task' },
    state: { status: 'completed', metadata: { sessionId: 'ses_2' } },
  })
  assert.is((await readSession(path, opencode)).session.trace.parentCallId, 'c-1')
})

const [parentId, childId] = [uuidAt('2026-02-01T10:00:00Z'), uuidAt('2026-02-01T10:01:00Z')]
const agentPath = '/root/count_files'
let homes = 0

/** The sub-agent of a Codex session, whose parent has these lines. */
const codexChild = async (...parent: readonly string[]) => {
  const home = join(folder, `codex-${++homes}`)
  const file = (id: string) => join('sessions', '2026', '02', '01', `rollout-2026-02-01T10-00-00-${id}.jsonl`)
  if (parent.length > 0) write(home, file(parentId), text([meta(parentId), ...parent]))
  const task = {
    ...{ type: 'agent_message', author: '/root', recipient: agentPath },
    content: [
      { type: 'input_text', text: 'Message Type: NEW_TASK\nPayload:\n' },
      { type: 'encrypted_content', encrypted_content: 'c2VjcmV0' },
    ],
  }
  const child = [meta(childId, { parent_thread_id: parentId, agent_path: agentPath }), item(task)]
  return readSession(write(home, file(childId), text(child)), codex)
}

const spawn = call({
  ...{ call_id: 'c-1', name: 'spawn_agent' },
  arguments: JSON.stringify({ task_name: 'count_files', message: 'Count the files' }),
})
const activity = { agent_thread_id: childId, agent_path: agentPath, kind: 'started' }

for (const [how, ...lines] of [
  ['an event', spawn, event('sub_agent_activity', { ...activity, call_id: 'c-1' })],
  ['an item', spawn, event('item_completed', { item: { type: 'SubAgentActivity', id: 'c-1', ...activity } })],
  ['the path in the result', spawn, output(JSON.stringify({ task_name: agentPath }), { call_id: 'c-1' })],
  ['the session in the result', spawn, output(JSON.stringify({ agent_id: childId }), { call_id: 'c-1' })],
] as const)
  test(`Codex: ${how} of the parent names the call, whose task is the title of the sub-agent`, async () => {
    const { session, messages } = await codexChild(...lines)
    assert.equal([session.trace.parentCallId, session.trace.title], ['c-1', 'Count the files'])
    assert.equal(
      messages.map(({ role }) => role),
      ['user'],
    )
    assert.not.match(JSON.stringify(messages), /c2VjcmV0/)
  })

test('Codex: without the parent, or another agent’s call, a sub-agent has the title of its path', async () => {
  const other = event('sub_agent_activity', {
    ...activity,
    agent_thread_id: 'x',
    agent_path: '/root/x',
    call_id: 'c-1',
  })
  for (const lines of [[], [spawn, other]]) {
    const { trace } = (await codexChild(...lines)).session
    assert.equal([trace.parentCallId, trace.title], [undefined, agentPath])
  }
})

test('Codex: what the agents below a sub-agent tell it is no prompt', async () => {
  const home = join(folder, 'codex-below')
  const told = { type: 'agent_message', author: `${agentPath}/deep`, recipient: agentPath }
  const lines = [
    meta(childId, { parent_thread_id: parentId, agent_path: agentPath }),
    item({ ...told, content: [{ type: 'input_text', text: 'found it' }] }),
  ]
  const { messages } = await readSession(write(home, 'rollout-s.jsonl', text(lines)), codex)
  rmSync(home, { recursive: true })
  assert.equal(
    messages.map(({ role }) => role),
    ['system'],
  )
})

test.run()
