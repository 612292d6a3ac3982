import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SessionFields } from '../../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import { titleOf } from '../../../../src/client/agents/support/trace-fields.ts'
import { readSession } from '../../support/read-session.ts'
import { answerLine, line, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('the trace of a Claude Code session')
const { path, remove } = tempFolder()
test.after(remove)

const named = async (name: string, ...lines: string[]) => (await readSession(writeSession(path, name, lines))).session
const trace = async (...lines: string[]) => (await named('s-1.jsonl', ...lines)).trace
const title = async (...lines: string[]) => (await trace(...lines)).title

const prompt = userLine('u-1', 'Fix\n the  bug')
const summary = (text: string, leafUuid: string) => JSON.stringify({ type: 'summary', summary: text, leafUuid })
const ai = JSON.stringify({ type: 'ai-title', aiTitle: 'By the agent' })
const custom = JSON.stringify({ type: 'custom-title', customTitle: 'By the user' })

test('the title is the one set by the user, else by the agent, else a summary of this session, else the first prompt', async () => {
  assert.is(await title(custom, ai, prompt, summary('Sum', 'u-1')), 'By the user')
  assert.is(await title(ai, prompt, summary('Sum', 'u-1')), 'By the agent')
  assert.is(await title(summary('Old', 'u-1'), prompt, summary('Sum', 'u-1')), 'Sum')
  assert.is(await title(summary('Another session', 'elsewhere'), prompt), 'Fix the bug')
  assert.is(await title(userLine('u-1', 'meta', { isMeta: true })), undefined)
})

test('a prompt becomes a title as a whole, on one line, up to the limit of the service', () => {
  assert.is(titleOf(` ${'word\n '.repeat(500)}`), 'word '.repeat(500).trim())
  assert.is(titleOf('🙂'.repeat(4_096)), '🙂'.repeat(4_096))
  const family = '👩‍👩‍👧‍👦'
  assert.is(titleOf(family.repeat(2_000)), `${family.repeat(Math.floor(4_095 / [...family].length))}…`)
})

test('the project is the folder of the session’s start, the branch is the one at its end', async () => {
  const found = await trace(
    userLine('u-1', 'a', { cwd: '/w/app' }),
    userLine('u-2', 'b', { cwd: '/w/app/sub', gitBranch: 'dev/x' }),
    userLine('u-3', 'c', { gitBranch: '' }),
  )
  assert.equal(found, {
    agentId: 'claude-code',
    title: 'a',
    projectPath: '/w/app',
    projectName: 'app',
    gitBranch: 'dev/x',
  })
  assert.is((await trace(userLine('u-1', 'a', { cwd: 'C:\\work\\app\\' }))).projectName, 'app')
})

test('the model is the one with the most messages, regardless of how many lines they have', async () => {
  const opus = (uuid: string, id: string) => answerLine(uuid, id, [text('x')])
  const haiku = (uuid: string, id: string) =>
    line({ type: 'assistant', uuid, message: { id, model: 'claude-haiku', content: [text('x')] } })
  const lines = [opus('1', 'm-1'), opus('2', 'm-1'), opus('3', 'm-1'), haiku('4', 'm-2'), haiku('5', 'm-3')]
  assert.is((await trace(...lines)).model, 'claude-haiku')
})

test('the id is the file’s name if any line has it as its session id, else the most frequent session id', async () => {
  const old = (uuid: string) => userLine(uuid, 'x', { sessionId: 'old' })
  const lines = [old('1'), old('2'), userLine('3', 'y', { sessionId: 'new' })]
  assert.is((await named('copy.jsonl', ...lines)).externalId, 'old')
  assert.is((await named('new.jsonl', ...lines)).externalId, 'new')
  assert.is((await named('bare.jsonl', '{"type":"user","message":{"content":"x"}}')).externalId, 'bare')
})

const copied = (uuid: string, origin: string) => answerLine(uuid, uuid, [text('x')], { requestSessionId: origin })
const branched = (uuid: string, origin: string) =>
  userLine(uuid, 'x', { forkedFrom: { sessionId: origin, messageUuid: uuid } })
const originOf = ({ parentExternalId, parentKind }: SessionFields) => [parentExternalId, parentKind]

test('a fork has the lines of its origin, and names the session that asked for the last answer of them (rule 9)', async () => {
  const own = [userLine('3', 'again'), answerLine('4', '4', [text('y')])]
  const { session, messages } = await readSession(
    writeSession(path, 's-1.jsonl', [userLine('1', 'first'), copied('2', 'origin'), ...own]),
  )
  assert.equal([session.externalId, ...originOf(session.trace)], ['s-1', 'origin', 'fork'])
  assert.equal(
    messages.map(({ externalId }) => externalId),
    ['1', '2', '3', '4'],
  )
  assert.equal(originOf(await trace(copied('1', 'first'), copied('2', 'second'), ...own)), ['second', 'fork'])
})

test('a branch names its origin in each line that it has copied (rule 9)', async () => {
  assert.equal(originOf(await trace(branched('1', 'origin'), userLine('2', 'again'))), ['origin', 'fork'])
  const forkOfBranch = [branched('1', 'origin'), copied('2', 'branch'), userLine('3', 'again')]
  assert.equal(originOf(await trace(...forkOfBranch)), ['branch', 'fork'])
})

test('a session that asked for its answers itself is no fork, and the parent of a sub-agent stays the session that started it', async () => {
  assert.equal(originOf(await trace(copied('1', 's-1'), userLine('2', 'again'))), [undefined, undefined])
  const started = await named('agent-a1.jsonl', copied('1', 'origin'))
  assert.equal(originOf(started.trace), ['s-1', undefined])
})

test('sessions are searched in the folders of Claude Code', () => {
  const desktop = ['Library/Application Support', '.config', 'AppData/Roaming'].map(
    (folder) => `/home/me/${folder}/Claude/local-agent-mode-sessions`,
  )
  assert.equal(claudeCode.roots({}, '/home/me'), [
    '/home/me/.claude/projects',
    '/home/me/.config/claude/projects',
    ...desktop,
  ])
  for (const named of ['/c,/d', ' /c , ,/d,'])
    assert.equal(claudeCode.roots({ CLAUDE_CONFIG_DIR: named }, '/home/me'), ['/c/projects', '/d/projects', ...desktop])
  const desktopProject = `${desktop[1]}/a/b/local_c/.claude/projects/-w`
  const sessions = ['/x/p/s.jsonl', '/x/p/s/subagents/workflows/w/agent-1.jsonl', `${desktopProject}/s.jsonl`]
  for (const file of sessions) assert.is(claudeCode.isSessionFile(file), true, file)
  for (const file of [
    '/x/agent-1.meta.json',
    '/x/p/s/tool-results/a.jsonl',
    '/x/p/s/subagents/workflows/w/journal.jsonl',
    `${desktop[1]}/a/b/local_c/audit.jsonl`,
  ])
    assert.is(claudeCode.isSessionFile(file), false, file)
  for (const folder of ['a/b/local_c/outputs', 'a/b/local_c/.claude/shell', '-w/s/tool-results'])
    assert.is(claudeCode.skipsFolder?.(folder), true, folder)
  for (const folder of ['a', 'a/b/local_c', 'a/b/local_c/.claude', 'a/b/local_c/.claude/projects', '-w/s/subagents'])
    assert.is(claudeCode.skipsFolder?.(folder), false, folder)
})

test.run()
