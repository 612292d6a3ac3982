import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { opencode } from '../../../../src/client/agents/opencode/index.ts'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { readSession, readSessions } from '../../support/read-session.ts'
import { sharedData } from '../../support/shared-data.ts'
import { tempFolder } from '../../support/temp.ts'
import { answerInfo, opencodeDatabase, text, tool, userInfo } from './database-file.ts'

const test = suite('the session files of opencode')
const { path: root, remove } = tempFolder()
test.after(remove)

let folders = 0

/** A data folder with a session in files. `put` writes one more, below `storage`. */
const newFiles = () => {
  const data = join(root, String(++folders), 'opencode')
  const put = (file: string, content: unknown) => {
    const path = join(data, 'storage', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const session = put('session/p/ses_1.json', { id: 'ses_1', projectID: 'p', directory: '/w/app', title: 'In files' })
  put('message/ses_1/msg_2.json', { ...answerInfo, id: 'msg_2', time: { created: 1 } })
  put('message/ses_1/msg_1.json', { ...userInfo, id: 'msg_1', time: { created: 2 } })
  put('part/msg_1/prt_1.json', { id: 'prt_1', ...text('Fix it') })
  put('part/msg_2/prt_2.json', { id: 'prt_2', ...tool('c', 'bash', { status: 'running' }) })
  return { data, put, session }
}

const stampAt = async (path: string) => stampOf((await Array.fromAsync(opencode.sessions(path)))[0]!)

test('messages and parts are read from their folders, in order (rules 3 and 4)', async () => {
  const { session, put } = newFiles()
  put('part/msg_1/prt_0.json', { id: 'prt_9', ...text('First') })
  const { session: read, messages } = await readSession(session, opencode)
  assert.equal(read.trace, {
    agentId: 'opencode',
    title: 'In files',
    projectPath: '/w/app',
    projectName: 'app',
    model: 'claude-sonnet',
  })
  put('project/p.json', { id: 'p', worktree: '/w/shop' })
  assert.is((await readSession(session, opencode)).session.trace.projectName, 'shop')
  assert.equal(
    messages.map(({ externalId, order, parts }) => [
      externalId,
      order,
      parts.map(({ content }) => 'text' in content && content.text),
    ]),
    [
      ['msg_2', 1, [false]],
      ['msg_1', 2, ['First', 'Fix it']],
    ],
  )
})

test('the parent of a sub-agent is the session named in its file (rule 10)', async () => {
  const { put } = newFiles()
  const child = put('session/p/ses_2.json', { id: 'ses_2', projectID: 'p', parentID: 'ses_1' })
  assert.is((await readSession(child, opencode)).session.trace.parentExternalId, 'ses_1')
})

test('parts outside of message folders belong to the message that they name (rule 3)', async () => {
  const { session, put } = newFiles()
  put('part/prt_3.json', { id: 'prt_3', messageID: 'msg_2', ...text('loose') })
  put('part/prt_4.json', { id: 'prt_4', messageID: 'msg_x', ...text('of another session') })
  const { messages } = await readSession(session, opencode)
  assert.equal(
    messages.map(({ parts }) => parts.length),
    [2, 1],
  )
})

test('the stamp changes when a message or a part is added or rewritten (rule 3)', async () => {
  const { session, put } = newFiles()
  const stamps = [await stampAt(session), await stampAt(session)]
  put('part/msg_2/prt_2.json', { id: 'prt_2', ...tool('c', 'bash', { status: 'completed', output: 'ok' }) })
  stamps.push(await stampAt(session))
  put('message/ses_1/msg_3.json', { ...answerInfo, id: 'm_3' })
  stamps.push(await stampAt(session))
  put('part/m_3/001.json', { id: 'prt_3', ...text('x') })
  stamps.push(await stampAt(session))
  put('part/prt_4.json', { messageID: 'msg_1', ...text('loose') })
  stamps.push(await stampAt(session))
  assert.is(stamps[0], stamps[1])
  assert.is(new Set(stamps).size, 5)
})

test('a session that is also in the database beside the files is read from there, any other from its files (rule 3)', async () => {
  const besideSession = (id: string) => {
    const { data, session } = newFiles()
    const writer = opencodeDatabase(join(data, 'opencode-dev.db'))
    writer.session(id)
    writer.close()
    return session
  }
  assert.is((await readSessions(besideSession('ses_2'), opencode)).length, 1)
  assert.equal(await readSessions(besideSession('ses_1'), opencode), [])
  const { data, session } = newFiles()
  writeFileSync(join(data, 'opencode-dev.db'), 'damaged'.repeat(1_000))
  assert.is((await readSessions(session, opencode)).length, 1)
})

test('damaged files are skipped and reported (rule 9)', async () => {
  const { session, put } = newFiles()
  put('message/ses_1/msg_0.json', '{"role":"user"')
  put('part/msg_1/prt_2.json', '')
  const { malformed, messages } = await readSession(session, opencode)
  assert.equal(malformed, [2, 3])
  assert.is(messages.length, 2)
  put('session/p/ses_1.json', '{"id":')
  const damaged = await readSession(session, opencode)
  assert.is(damaged.session.externalId, 'ses_1')
  assert.is(damaged.session.skippedLines, 3)
})

test('links and ids cannot lead to files outside of the storage folder', async () => {
  const { session, put, data } = newFiles()
  const outside = join(root, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'prt_x.json'), JSON.stringify({ id: 'prt_x', ...text('SECRET') }))
  symlinkSync(join(outside, 'prt_x.json'), join(data, 'storage', 'part', 'msg_1', 'prt_x.json'))
  put('message/ses_1/msg_3.json', { ...userInfo, id: 'msg_3' })
  symlinkSync(outside, join(data, 'storage', 'part', 'msg_3'))
  put('message/ses_1/msg_4.json', { ...userInfo, id: '../../../../outside' })
  const { messages } = await readSession(session, opencode)
  assert.not.match(JSON.stringify(messages), /SECRET/)
  assert.is(messages.length, 2)
})

test('reverted messages are left out of files as well (rule 8)', async () => {
  const { session, put } = newFiles()
  put('session/p/ses_1.json', { id: 'ses_1', revert: { messageID: 'msg_1' } })
  const { messages } = await readSession(session, opencode)
  assert.equal(
    messages.map(({ externalId }) => externalId),
    ['msg_2'],
  )
})

test('a session without messages is empty; reading a missing session fails', async () => {
  const { session, data } = newFiles()
  rmSync(join(data, 'storage', 'message'), { recursive: true })
  assert.equal((await readSession(session, opencode)).messages, [])
  rmSync(session)
  assert.match(String(await readSession(session, opencode).catch((error: unknown) => error)), /ENOENT/)
})

const shared = sharedData()
if (!shared) test.skip('no recorded sessions beside the repository')

const recorded: readonly (readonly [string, string | undefined, readonly (readonly [string, string, string])[]])[] = [
  [
    'storage_v2/session/proj_test/ses_s_stage0_small.json',
    'gpt-4o-mini',
    [
      ['m_user_small', 'user', 'text'],
      ['m_assistant_small', 'assistant', 'tool_call,tool_result,text'],
    ],
  ],
  [
    'storage_v2/session/proj_test/ses_s_stage0_large.json',
    'gpt-4o-mini',
    [
      ['m_user_large_1', 'user', 'text'],
      ['m_assistant_large_1', 'assistant', 'tool_call,tool_result error,text,thinking,error'],
      ['m_user_large_2', 'user', 'text'],
      ['m_assistant_large_2', 'assistant', 'text'],
    ],
  ],
  [
    'storage_legacy/session/proj_test/ses_s_stage0_drift.json',
    'gpt-4o-mini',
    [['m_assistant_drift', 'assistant', 'tool_call,tool_result,text']],
  ],
]
for (const [file, model, expected] of shared ? recorded : [])
  test(`the recorded file ${file} gives its messages`, async () => {
    const { session, messages } = await readSession(
      join(shared!, 'agents', 'opencode', 'agent-sessions', file),
      opencode,
    )
    assert.is(session.trace.model, model)
    assert.equal(
      messages.map(({ externalId, role, parts }) => [
        externalId,
        role,
        parts
          .map((part) =>
            part.type === 'tool_result' && part.content.status === 'error' ? 'tool_result error' : part.type,
          )
          .join(),
      ]),
      expected,
    )
  })

test.run()
