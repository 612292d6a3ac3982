import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copilotCli } from '../../../../src/client/agents/copilot-cli/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { answer, event, prompt, reader, start, write } from '../../support/copilot-file.ts'
import { readSession } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('files of Copilot CLI')
const { path, remove } = tempFolder()
test.after(remove)
const { trace, read } = reader(path)

test('sessions are searched in the folders of the CLI', () => {
  assert.equal(copilotCli.roots({}, '/home/me'), ['/home/me/.copilot/session-state'])
  assert.equal(copilotCli.roots({ COPILOT_HOME: '/c' }, '/home/me'), ['/c/session-state'])
})

test('sessions in folders and in flat files are found; of two copies, only the folder; the session’s work files are skipped', async () => {
  const root = join(path, 'home', 'session-state')
  write(root, 'a/events.jsonl', [start({ sessionId: 'a' })])
  write(root, 'a/files/data.jsonl', ['{}'])
  write(root, 'a/files/events.jsonl', ['{}'])
  write(root, 'a/checkpoints/1.jsonl', ['{}'])
  write(root, 'b.jsonl', [start({ sessionId: 'b' })])
  write(root, 'a.jsonl', [start({ sessionId: 'a' })])
  const searched = { env: { COPILOT_HOME: join(path, 'home') }, home: path }
  const files = await findSessionFiles([copilotCli], [], searched, () => assert.unreachable())
  assert.equal(
    files.map((file) => file.path.slice(root.length + 1)),
    ['a/events.jsonl', 'b.jsonl'],
  )
})

test('a session is recognised by its events, regardless of the file’s name', () => {
  const beginning = `${start()}\n${prompt('e-1', 'x')}\n{"type":"cut`
  assert.ok(copilotCli.recognises('/x/y.jsonl', beginning))
  const others = [
    '',
    '{"type":"session","id":"s"}',
    '{"type":"user","data":{},"id":"","timestamp":""}',
    start().slice(0, -1),
  ]
  for (const other of others) assert.not(copilotCli.recognises('/x/events.jsonl', other), other)
})

test('the fields of the trace come from the session’s start event (rule 1)', async () => {
  const context = { repository: 'ada/app', repositoryHost: 'git.example', branch: 'main', headCommit: '0a1b' }
  const found = await trace(
    start({ context: { cwd: '/w/app', ...context } }),
    prompt('e-1', 'Fix\n it'),
    ...['a', 'b', 'b'].map((model, index) => answer(`m-${index}`, 'x', { model })),
    event('e-2', 'session.resume', { context: { cwd: '/w/other', ...context, branch: 'dev', headCommit: '2c3d' } }),
    event('e-3', 'session.start', { sessionId: 's-2' }),
    event('e-4', 'session.context_changed', { cwd: '/w/third', branch: '' }),
  )
  assert.equal(found, {
    agentId: 'copilot-cli',
    title: 'Fix it',
    projectPath: '/w/app',
    projectName: 'app',
    model: 'b',
    gitBranch: 'dev',
    gitRef: '2c3d',
    gitRemoteUrl: 'https://git.example/ada/app',
  })
})

test('the trace has a git remote only if the repository’s host is known', async () => {
  const remote = async (context: object) => (await trace(start({ context }))).gitRemoteUrl
  assert.is(await remote({ repository: 'ada/app', hostType: 'github' }), 'https://github.com/ada/app')
  assert.is(await remote({ repository: 'ada/app', hostType: 'cli' }), undefined)
  assert.is(await remote({ repository: 'app', repositoryHost: 'git.example' }), undefined)
  assert.is(await remote({ repository: 'ada/app', repositoryHost: 'me:secret@git.example' }), undefined)
})

test('if no answer names its model, the trace has the last model that the user chose', async () => {
  const shutdown = event('e-2', 'session.shutdown', { currentModel: 'gpt' })
  assert.is((await trace(start(), answer('e-1', 'x'), shutdown)).model, 'gpt')
  assert.is((await trace(start({ selectedModel: 'auto' }), answer('e-1', 'x'))).model, undefined)
})

test('the id is taken from the start event, else from the name of the folder or the file (rule 1)', async () => {
  assert.is((await read(start())).session.externalId, 's-1')
  assert.is((await read(prompt('e-1', 'x'))).session.externalId, 's-0')
  const flat = write(path, 'session-state/flat.jsonl', [prompt('e-1', 'x')])
  assert.is((await readSession(flat, copilotCli)).session.externalId, 'flat')
})

test('the title is the name of the workspace, and the stamp changes with it (rule 10)', async () => {
  const events = write(path, 'named/events.jsonl', [start(), prompt('e-1', 'Fix it')])
  const workspace = join(path, 'named', 'workspace.yaml')
  const look = async (yaml: string) => {
    writeFileSync(workspace, `id: s-1\ncwd: /w/app\n${yaml}\nuser_named: false\n`)
    const [stored] = await Array.fromAsync(copilotCli.sessions(events))
    return { stamp: stampOf(stored!), title: (await readSession(events, copilotCli)).session.trace.title }
  }
  const plain = await look('name: Mend the parser')
  assert.is(plain.title, 'Mend the parser')
  const titles: readonly (readonly [string, string])[] = [
    [`name: 'Mend #1: it''s slow'`, `Mend #1: it's slow`],
    ['name: "a \\"quoted\\" one"', 'a "quoted" one'],
    ['name: a long one\n  in two lines # noted', 'a long one in two lines'],
    ['name: >-\n  a block\n  in two lines', 'a block in two lines'],
    ['summary_count: 0', 'Fix it'],
    ['name:', 'Fix it'],
    ['name: null', 'Fix it'],
  ]
  for (const [yaml, title] of titles) {
    const { title: found, stamp } = await look(yaml)
    assert.is(found, title)
    assert.is.not(stamp, plain.stamp)
  }
})

test.run()
