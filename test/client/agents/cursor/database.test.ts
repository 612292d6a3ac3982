import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { cursor } from '../../../../src/client/agents/cursor/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { readSessions } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'
import { otherProcess } from '../support/sqlite/other-process.ts'
import { cursorDatabase, said, typed } from './database-file.ts'

const test = suite('the database of Cursor')
const { path: root, remove } = tempFolder()
test.after(remove)

let homes = 0

/** A home folder with a database of two sessions. */
const newHome = () => {
  const home = join(root, String(++homes))
  const user = join(home, '.config', 'Cursor', 'User')
  const path = join(user, 'globalStorage', 'state.vscdb')
  const writer = cursorDatabase(path)
  for (const id of ['c-1', 'c-2']) {
    writer.composer(id, [`${id}-b-1`])
    writer.bubble(id, `${id}-b-1`, typed(`Prompt of ${id}`))
  }
  const workspace = (hash: string, content: unknown) => {
    mkdirSync(join(user, 'workspaceStorage', hash), { recursive: true })
    writeFileSync(join(user, 'workspaceStorage', hash, 'workspace.json'), JSON.stringify(content))
    return cursorDatabase(
      join(user, 'workspaceStorage', hash, 'state.vscdb'),
      'CREATE TABLE ItemTable(key TEXT, value BLOB)',
    )
  }
  return { home, path, writer, workspace }
}

const stampsOf = async (path: string) =>
  new Map(
    (await Array.fromAsync(cursor.sessions(path))).map((stored) => [stored.source.slice(path.length), stampOf(stored)]),
  )
const tracesOf = async (path: string) => (await readSessions(path, cursor)).map(({ session }) => session.trace)

test('each session with content is listed with a source of its own (rules 3 and 10)', async () => {
  const { path, writer } = newHome()
  writer.composer('c-3', [])
  writer.row('composerData:c-4', null)
  writer.row('composerData:', { fullConversationHeadersOnly: [{ bubbleId: 'b' }] })
  assert.equal([...(await stampsOf(path)).keys()], ['#c-1', '#c-2'])
  assert.equal(
    (await readSessions(path, cursor)).map(({ session, messages }) => [session.externalId, messages.length]),
    [
      ['c-1', 1],
      ['c-2', 1],
    ],
  )
  writer.close()
})

test('a stamp changes with every change of its session, and with no change of another one (rule 2)', async () => {
  const { path, writer } = newHome()
  const changes: readonly (() => void)[] = [
    () => writer.bubble('c-1', 'b-2', said('new')),
    () => writer.bubble('c-1', 'b-3', said('more')),
    () => writer.bubble('c-1', 'b-2', said('new text')),
    () => writer.bubble('c-1', 'b-2', said('old text')),
    () => writer.composer('c-1', ['c-1-b-1', 'b-2']),
    () => writer.composer('c-1', ['c-1-b-1', 'b-2'], { lastUpdatedAt: 1_790_000_000_001 }),
    () => void writer.database.exec(`DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c-1:b-3'`),
  ]
  let before = await stampsOf(path)
  assert.equal(await stampsOf(path), before)
  for (const [index, change] of changes.entries()) {
    writer.row('bubbleId:c-9:x', `${index}`)
    change()
    const after = await stampsOf(path)
    assert.is.not(after.get('#c-1'), before.get('#c-1'), `change ${index}`)
    assert.is(after.get('#c-2'), before.get('#c-2'))
    before = after
  }
  for (const text of ['an', 'an answer', 'an answer that grows']) {
    writer.bubble('c-1', 'b-5', said(text))
    const after = await stampsOf(path)
    assert.is.not(after.get('#c-1'), before.get('#c-1'), text)
    before = after
  }
  writer.close()
})

test('a database can be read while Cursor writes it, and no file is created beside it (rule 1)', async () => {
  const { path, writer } = newHome()
  writer.close()
  assert.is((await readSessions(path, cursor)).length, 2)
  assert.equal(readdirSync(dirname(path)), ['state.vscdb'])
  const other = otherProcess(path, `database.exec("BEGIN IMMEDIATE; DELETE FROM cursorDiskKV"); say('ready')`)
  await other.said()
  assert.is((await readSessions(path, cursor)).length, 2)
  await other.stop()
})

test('messages are from the moment when the session was read; reading it again gives the current ones', async () => {
  const { path, writer } = newHome()
  const [stored] = await Array.fromAsync(cursor.sessions(path))
  const session = await stored!.read({ onMalformed: () => assert.unreachable() })
  writer.bubble('c-1', 'b-2', said('later'))
  writer.composer('c-1', ['c-1-b-1', 'b-2'])
  const counts = []
  for (let n = 0; n < 3; n++) counts.push((await Array.fromAsync(session.messages())).length)
  assert.equal(counts, [1, 2, 2])
  writer.database.exec('DROP TABLE cursorDiskKV')
  assert.equal(await Array.fromAsync(session.messages()), [])
  writer.close()
})

test('a table without row numbers, a missing column and a missing table are no errors (rule 1)', async () => {
  const bare = (schema: string) => cursorDatabase(join(root, `bare-${++homes}`, 'state.vscdb'), schema)
  const writer = bare('CREATE TABLE cursorDiskKV(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID')
  writer.composer('c-1', ['b-1'])
  writer.bubble('c-1', 'b-1', typed('Fix it'))
  const path = join(root, `bare-${homes}`, 'state.vscdb')
  assert.is((await readSessions(path, cursor))[0]!.messages.length, 1)
  const before = await stampsOf(path)
  writer.database.exec(`UPDATE cursorDiskKV SET value = '{"type":1,"text":"Fix"}' WHERE key = 'bubbleId:c-1:b-1'`)
  assert.not.equal(await stampsOf(path), before)
  writer.close()
  for (const schema of ['CREATE TABLE cursorDiskKV(key TEXT)', 'CREATE TABLE other(a)']) {
    bare(schema).close()
    assert.equal(await readSessions(join(root, `bare-${homes}`, 'state.vscdb'), cursor), [])
  }
})

test('a damaged database fails with a clear reason', async () => {
  const path = join(root, 'state.vscdb')
  writeFileSync(path, 'not a database'.repeat(1_000))
  const failure = await readSessions(path, cursor).catch((error: unknown) => error)
  assert.match((failure as Error).message, /^the database cannot be read: file is not a database$/)
})

test('the title is the session’s name, else the first prompt; the model is the one with the most answers (rule 11)', async () => {
  const { path, writer } = newHome()
  writer.composer('c-1', ['c-1-b-1', 'b-2', 'b-3', 'b-4'], { name: '' })
  for (const [id, modelName] of [
    ['b-2', 'a'],
    ['b-3', 'b'],
    ['b-4', 'b'],
  ] as const)
    // prettier-ignore
    writer.bubble('c-1', id, said('x', { modelInfo: { modelName } }))
  assert.equal(await tracesOf(path), [
    { agentId: 'cursor', title: 'Prompt of c-1', model: 'b' },
    { agentId: 'cursor', title: 'Fix the bug' },
  ])
  writer.close()
})

test('the project is the folder named by the session, else the folder of the workspace that lists the session (rule 11)', async () => {
  const { path, writer, workspace } = newHome()
  const pathsOf = async () => (await tracesOf(path)).map(({ projectPath }) => projectPath)
  const open = [
    workspace('w-1', { folder: 'file:///w/by%20name' }),
    workspace('w-2', { folder: 'vscode-remote://ssh-remote%2Bhost/w/remote' }),
    workspace('w-3', { folder: 'file:///c%3A/w/app' }),
    workspace('w-4', { workspace: 'file:///w/all.code-workspace' }),
    workspace('w-5', { folder: 'file:///%E0%A4%A' }),
  ]
  open[1]!.item('composer.composerData', { allComposers: [{ composerId: 'c-1' }, {}], selectedComposerIds: ['c-9', 7] })
  open[2]!.item('workbench.panel.composerChatViewPane.1', { 'workbench.panel.aichat.view.c-2': {} })
  open[4]!.item('composer.composerData', { allComposers: [{ composerId: 'c-1' }] })
  assert.equal(await pathsOf(), ['/w/remote', 'c:/w/app'])
  writer.composer('c-1', ['c-1-b-1'], { workspaceIdentifier: { id: 'w-1' } })
  writer.composer('c-2', ['c-2-b-1'], { workspaceIdentifier: { id: '../w-1', uri: { fsPath: '/w/app' } } })
  assert.equal(await pathsOf(), ['/w/by name', '/w/app'])
  writer.composer('c-1', ['c-1-b-1'], { workspaceIdentifier: { id: '..' } })
  writer.composer('c-2', ['c-2-b-1'], { workspaceIdentifier: 'w-1' })
  assert.equal(await pathsOf(), ['/w/remote', 'c:/w/app'])
  for (const one of [...open, writer]) one.close()
})

test('sessions are searched in the folders of Cursor on each operating system', async () => {
  assert.equal(cursor.roots({}, '/home/me'), [
    '/home/me/Library/Application Support/Cursor/User/globalStorage/state.vscdb',
    '/home/me/.config/Cursor/User/globalStorage/state.vscdb',
    '/home/me/AppData/Roaming/Cursor/User/globalStorage/state.vscdb',
    '/home/me/.cursor/projects',
    '/home/me/.cursor/chats',
    '/home/me/.config/cursor/chats',
  ])
  assert.equal(cursor.roots({ XDG_CONFIG_HOME: '/x', APPDATA: '/a' }, '/h'), [
    '/h/Library/Application Support/Cursor/User/globalStorage/state.vscdb',
    '/x/Cursor/User/globalStorage/state.vscdb',
    '/a/Cursor/User/globalStorage/state.vscdb',
    '/h/.cursor/projects',
    '/h/.cursor/chats',
    '/x/cursor/chats',
  ])
  const { home, path, writer } = newHome()
  writer.close()
  const project = join(home, '.cursor', 'projects', 'w-app')
  const transcripts = [
    'agent-transcripts/a/a.jsonl',
    'agent-transcripts/a/subagents/b.jsonl',
    'agent-transcripts/c.txt',
  ]
  for (const file of [...transcripts, 'agent-transcripts/c.json', 'terminals/agent-transcripts/d.jsonl', 'repo.json']) {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), '')
  }
  symlinkSync(join(project, transcripts[0]!), join(project, 'agent-transcripts', 'link.jsonl'))
  const found = await findSessionFiles([cursor], [], { env: {}, home }, assert.unreachable)
  assert.equal(
    found.map((file) => file.path),
    [path, ...transcripts.map((file) => join(project, file))],
  )
})

test.run()
