import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../../src/client/agents/codex/index.ts'
import { geminiCli } from '../../../../src/client/agents/gemini-cli/index.ts'
import { pi } from '../../../../src/client/agents/pi/index.ts'
import { saidIn } from '../../../../src/client/agents/support/injected.ts'
import { titleOfPrompt } from '../../../../src/client/agents/support/trace-fields.ts'
import { readSession } from '../../support/read-session.ts'
import { answerLine, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'
import { answer, metadata, set, typed } from '../gemini-cli/records.ts'

const test = suite('what programs put where the user types')
const { path: folder, remove } = tempFolder()
test.after(remove)

/** What texts say: `is text`, as one text. */
const texts: readonly (readonly [string, string])[] = [
  ['<ide_opened_file>a</ide_opened_file>', ''],
  ['<ide_selection>a</ide_selection>\n<ide_opened_file>b</ide_opened_file> do it', 'typed do it'],
  ['<ide_selection>never closed', 'typed <ide_selection>never closed'],
  ['<constructor>is typed</constructor>', 'typed <constructor>is typed</constructor>'],
  ['<ide_selection>a</ide_selection>\n<system-reminder>b', ''],
  ['<local-command-caveat>x', ''],
  ['<local-command-stdout>x', ''],
  ['<local-command-stderr>x', ''],
  ['<bash-stdout>x', 'output x'],
  ['<bash-stdout></bash-stdout><bash-stderr>no &amp; no\n</bash-stderr>', 'output no & no'],
  ['<bash-input>git log &gt; x</bash-input>', 'command ! git log > x'],
  ['<bash-input>echo "&lt;" > x</bash-input>', 'command ! echo "&lt;" > x'],
  ['<task-notification>\n<summary>Done</summary>\n<result>3 files</result>', 'output Done\n\n3 files'],
  ['<task-notification>x', 'output x'],
  ['<session_context>\n/home/dev\n</session_context>', ''],
  ['<session_context>a</session_context>\nrename it', 'typed rename it'],
  ['[Request interrupted by user]', ''],
  ['Stop hook feedback:\nno', ''],
  ['say <system-reminder>', 'typed say <system-reminder>'],
  ['<command-name>/exit</command-name>\n <command-args></command-args>', 'command /exit'],
  ['<command-message>init is running</command-message>\n<command-name>init</command-name>', 'command /init'],
  ['<command-name>/model</command-name>\n<command-args>opus</command-args>', 'command /model opus'],
  ['<command-name>/plan</command-name>\n<command-args>the cache</command-args>', 'typed /plan the cache'],
  ['<command-name>/fix</command-name><command-args> the bug\n</command-args>', 'typed /fix the bug'],
  ['<command-message>only</command-message>', 'command /only'],
  [' \n', ''],
  ['  plain ', 'typed   plain '],
  ['<div>why?</div>', 'typed <div>why?</div>'],
  ['<image>a</image> is HTML here', 'typed <image>a</image> is HTML here'],
]
for (const [block, said] of texts)
  test(`${JSON.stringify(block)} says ${JSON.stringify(said)}`, () =>
    assert.is(
      saidIn(block)
        .map(({ is, text }) => `${is} ${text}`)
        .join('|'),
      said,
    ))

const read = async (agent: Agent, name: string, lines: readonly string[]) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  const { session, messages } = await readSession(writeSession(folder, name, lines), agent)
  const said = messages.map(({ role, parts }) => [
    role,
    ...parts.map((part) => part.type === 'text' && part.content.text),
  ])
  return { title: session.trace.title, said }
}

test('Claude Code: a command for the shell and what it printed are the system’s, and no title', async () => {
  const { title, said } = await read(claudeCode, 's-1.jsonl', [
    userLine('u-1', '<local-command-caveat>Caveat: …</local-command-caveat>', { isMeta: true }),
    userLine('u-2', '<bash-input>git status --short</bash-input>'),
    userLine(
      'u-3',
      '<bash-stdout> M src/cart.ts\n?? &lt;notes&gt; &amp; todo.txt</bash-stdout><bash-stderr></bash-stderr>',
    ),
    userLine('u-4', 'commit what you see'),
  ])
  assert.is(title, 'commit what you see')
  assert.equal(said, [
    ['system', '! git status --short'],
    ['system', ' M src/cart.ts\n?? <notes> & todo.txt'],
    ['user', 'commit what you see'],
  ])
})

const slash = (name: string, args: string) =>
  `<command-name>/${name}</command-name>\n<command-message>${name}</command-message>\n<command-args>${args}</command-args>`

test('Claude Code: its own commands are neither prompts nor titles where a prompt follows', async () => {
  const { title, said } = await read(claudeCode, 's-1.jsonl', [
    userLine('u-1', slash('login', '')),
    userLine('u-2', '<local-command-stdout>Login successful</local-command-stdout>'),
    userLine('u-3', slash('model', 'opus')),
    userLine('u-4', 'the invoice total is off'),
    answerLine('a-1', 'm-1', [text('Fixed.')]),
  ])
  assert.is(title, 'the invoice total is off')
  assert.equal(
    said.map(([role]) => role),
    ['system', 'system', 'user', 'assistant'],
  )
  assert.is((await read(claudeCode, 's-1.jsonl', [userLine('u-1', slash('login', ''))])).title, '/login')
})

test('Claude Code: a command with a prompt is that prompt', async () => {
  const prompt =
    '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the last commit</command-args>'
  const { title, said } = await read(claudeCode, 's-1.jsonl', [userLine('u-1', prompt)])
  assert.is(title, '/review the last commit')
  assert.equal(said, [['user', '/review the last commit']])
})

test('a prompt is stored as it was typed', async () => {
  const prompt =
    'rename __init__.py and *.test.ts\n  File "/srv/app.py"\n\n# no heading\n\\d+ C:\\new\\*.txt <b>bold?</b> &amp; ~~no~~'
  assert.equal((await read(claudeCode, 's-1.jsonl', [userLine('u-1', prompt)])).said, [['user', prompt]])
})

test('Gemini CLI: the context of the session, which lists the user’s folder, is not sent', async () => {
  const context = '<session_context>\nThis is the Gemini CLI.\n/home/dev/shop/\n├── package.json\n</session_context>'
  const { title, said } = await read(geminiCli, 'chats/session-2026-09-06T08-00-a1b2c3d4.jsonl', [
    metadata(),
    set({
      messages: [typed('g1', [{ text: context }]), typed('g2', [{ text: 'rename it' }])].map((one) => JSON.parse(one)),
    }),
    answer('g3', [{ text: 'Renamed.' }]),
  ])
  assert.is(title, 'rename it')
  assert.equal(said, [
    ['user', 'rename it'],
    ['assistant', 'Renamed.'],
  ])
})

test('Gemini CLI: what a sub-agent is told that has to end is no prompt', async () => {
  const note =
    'You have exceeded the time limit. You have one final chance to complete the task with a short grace period. …'
  const { said } = await read(geminiCli, 'chats/session-2026-09-06T08-00-a1b2c3d4.jsonl', [
    metadata(),
    typed('g1', note),
  ])
  assert.equal(said, [['system', note]])
})

test('Codex: a command for the shell is the system’s', async () => {
  const command =
    '<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\na.ts\n</result>\n</user_shell_command>'
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: command }] }
  const line = JSON.stringify({ timestamp: '2026-02-01T10:00:00.000Z', type: 'response_item', payload: item })
  const { said } = await read(codex, 'rollout-2026-02-01T10-00-00-0192f0c1-2b3d-7e4f-8a5b-6c7d8e9f0a1b.jsonl', [line])
  assert.equal(said, [['system', '! ls\nExit code: 0\nOutput:\na.ts']])
})

test('pi: of an attached file only the name is sent, and it is no title', async () => {
  const prompt =
    '<file name="/home/dev/notes.txt">\nsecret plans\n</file>\n<file name="/home/dev/a.png"></file>\nsum it up'
  const message = { role: 'user', content: [{ type: 'text', text: prompt }] }
  const { title, said } = await read(pi, '2026-02-01T10-00-00-000Z_0192f0c1.jsonl', [
    JSON.stringify({
      type: 'session',
      version: 3,
      id: '0192f0c1',
      timestamp: '2026-02-01T10:00:00.000Z',
      cwd: '/w/app',
    }),
    JSON.stringify({ type: 'message', id: 'e-1', parentId: null, timestamp: '2026-02-01T10:00:00.000Z', message }),
  ])
  assert.is(title, 'sum it up')
  assert.equal(said, [['user', '[file notes.txt]', '[file a.png]', 'sum it up']])
})

test('a title says what a prompt says, and not what stands for an image or is only a command', () => {
  const titleOf = (...said: readonly string[]) =>
    titleOfPrompt({ role: 'user', parts: said.map((one) => ({ type: 'text', content: { text: one } })) })
  assert.equal(titleOf('[image image/png 415 kB]', 'what is this?'), { title: 'what is this?', isWeak: false })
  assert.equal(titleOf('[Image #1] what is this?'), { title: 'what is this?', isWeak: false })
  assert.equal(titleOf('[image image/png 415 kB]'), { title: '[image image/png 415 kB]', isWeak: true })
  assert.equal(titleOf('/compress'), { title: '/compress', isWeak: true })
  assert.equal(titleOf('/usr/bin is full'), { title: '/usr/bin is full', isWeak: false })
})

test.run()
