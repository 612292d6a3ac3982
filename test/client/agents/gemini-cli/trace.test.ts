import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { geminiCli } from '../../../../src/client/agents/gemini-cli/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { readSession } from '../../support/read-session.ts'
import { writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'
import { answer, metadata, rewindTo, set, typed } from './records.ts'

const test = suite('the trace of a Gemini CLI session')
const { path, remove } = tempFolder()
test.after(remove)

const projects = join(path, '.gemini', 'tmp')
const chatsOf = (project: string) => {
  const folder = join(projects, project, 'chats')
  mkdirSync(folder, { recursive: true })
  return folder
}
const traceOf = async (folder: string, ...lines: string[]) =>
  (await readSession(writeSession(folder, 'session-1.jsonl', lines), geminiCli)).session.trace
const hash = createHash('sha256').update('/w/app').digest('hex')

test('the title is the summary, else the first prompt that was not rewound (rule 9)', async () => {
  const title = async (...lines: string[]) => (await traceOf(path, metadata(), ...lines)).title
  assert.is(await title(typed('m-1', 'Fix\n it'), set({ summary: 'Mend the door' })), 'Mend the door')
  assert.is(await title(typed('m-1', 'Fix\n it')), 'Fix it')
  assert.is(await title(typed('m-1', 'No'), rewindTo('m-1'), typed('m-2', 'Yes')), 'Yes')
  assert.is(await title(answer('m-1', 'Hello')), undefined)
})

test('the model is the one with the most answers that were not rewound', async () => {
  const by = (id: string, model: string) => answer(id, 'x', { model })
  const lines = [by('m-1', 'a'), by('m-1', 'a'), by('m-2', 'b'), by('m-3', 'b'), by('m-4', 'a'), rewindTo('m-4')]
  assert.is((await traceOf(path, metadata(), ...lines)).model, 'b')
})

test('the parent of a sub-agent is the session whose folder holds its file (rule 8)', async () => {
  const folder = join(chatsOf('chats'), 'parent-1')
  mkdirSync(folder)
  const file = writeSession(folder, 'child-1.jsonl', [metadata(), typed('m-1', 'Fix it')])
  assert.is((await readSession(file, geminiCli)).session.trace.parentExternalId, 'parent-1')
  assert.is((await traceOf(chatsOf('chats'), metadata(), typed('m-1', 'Fix it'))).parentExternalId, undefined)
})

test('without them the project is the first folder in the context before the first prompt (rule 9)', async () => {
  const folders = '- **Workspace Directories:**\n  - /w/shop\n  - /w/other\n- **Directory Structure:**'
  const context = typed('m-1', `<session_context>\nThis is the Gemini CLI.\n${folders}\n</session_context>`)
  const asked = typed('m-2', 'about <session_context> Workspace Directories:\n- /w/typed')
  const first = metadata({ projectHash: 'ab'.repeat(32) })
  const { projectPath, projectName } = await traceOf(chatsOf('unknown'), first, context, asked)
  assert.equal([projectPath, projectName], ['/w/shop', 'shop'])
  assert.not('projectPath' in (await traceOf(chatsOf('unknown'), first, asked)))
})

test('the project is the path in .project_root, else the known path whose hash the session has (rule 9)', async () => {
  const named = chatsOf('app')
  writeFileSync(join(named, '..', '.project_root'), '/w/my app\n')
  assert.equal(await traceOf(named, metadata()), {
    agentId: 'gemini-cli',
    projectPath: '/w/my app',
    projectName: 'my app',
  })
  const hashed = chatsOf(hash)
  const first = metadata({ projectHash: hash })
  assert.not('projectPath' in (await traceOf(hashed, first)))
  assert.is((await traceOf(hashed, first, set({ directories: ['/w/other', '/w/app'] }))).projectPath, '/w/app')
  writeFileSync(
    join(path, '.gemini', 'projects.json'),
    JSON.stringify({ projects: { '/w/other': 'o', '/w/app': 'a' } }),
  )
  assert.is((await traceOf(hashed, first)).projectPath, '/w/app')
  writeFileSync(join(path, '.gemini', 'projects.json'), 'broken')
  assert.not('projectPath' in (await traceOf(hashed, first)))
})

test('the trace’s id is the session’s id, also for a sub-agent, else the name of the file (rule 8)', async () => {
  const idOf = async (name: string, ...lines: string[]) =>
    (await readSession(writeSession(path, name, lines), geminiCli)).session.externalId
  assert.is(await idOf('session-1.jsonl', metadata()), 's-1')
  assert.is(await idOf('sub-1.jsonl', metadata({ sessionId: 'sub-1', kind: 'subagent' })), 'sub-1')
  assert.is(await idOf('session-2.jsonl', typed('m-1', 'a')), 'session-2')
})

test('sessions are searched in the folders of the CLI', () => {
  assert.equal(geminiCli.roots({}, '/home/me'), ['/home/me/.gemini/tmp'])
  assert.equal(geminiCli.roots({ GEMINI_CLI_HOME: '/g' }, '/home/me'), ['/g/.gemini/tmp'])
})

test('only the newer file of a migrated session is read; backups and links are not read (rule 1)', async () => {
  const chats = chatsOf('found')
  mkdirSync(join(chats, 's-1'))
  for (const name of [
    'session-a.json',
    'session-a.jsonl',
    'session-b.json',
    'session-c.jsonl.unreadable-17',
    'notes.json',
    's-1/sub-1.jsonl',
  ])
    writeFileSync(join(chats, name), metadata())
  symlinkSync(join(path, 'session-1.jsonl'), join(chats, 'session-d.jsonl'))
  const skipped = join(chats, '..', 'tool-outputs', 'chats')
  mkdirSync(skipped, { recursive: true })
  writeFileSync(join(skipped, 'session-e.jsonl'), metadata())
  for (const other of ['logs.json', 'checkpoint.json']) writeFileSync(join(chats, '..', other), '[]')
  const found = await findSessionFiles([geminiCli], [], { env: {}, home: path }, () => {})
  assert.equal(
    found.flatMap((file) => (file.path.startsWith(join(projects, 'found')) ? file.path.slice(chats.length + 1) : [])),
    ['s-1/sub-1.jsonl', 'session-a.jsonl', 'session-b.json'],
  )
})

test.run()
