import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { codex } from '../../../../src/client/agents/codex/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { answer, event, line, meta, prompt, reader, text, turn, uuidAt, write } from '../../support/codex-file.ts'
import { readSession, readSessions } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('files of Codex')
const { path, remove } = tempFolder()
test.after(remove)
const { trace, read } = reader(join(path, 'plain'))

const id = uuidAt('2026-02-01T10:00:00Z')
const name = `rollout-2026-02-01T10-00-00-${id}.jsonl`
const lines = [meta(id), turn('t-1'), prompt('Fix\n it'), answer('Done')]

test('sessions are searched in the folders of the CLI', () => {
  assert.equal(codex.roots({}, '/home/me'), ['/home/me/.codex/sessions', '/home/me/.codex/archived_sessions'])
  assert.equal(codex.roots({ CODEX_HOME: '/c' }, '/home/me'), ['/c/sessions', '/c/archived_sessions'])
  for (const file of [name, `${name}.zst`, 'rollout-x.jsonl']) assert.ok(codex.isSessionFile(`/c/sessions/${file}`))
  for (const file of ['session_index.jsonl', `${name}.zst.tmp`, 'history.jsonl', `x-${name}`, 'rollout-1.json'])
    assert.not(codex.isSessionFile(`/c/sessions/${file}`), file)
})

test('plain, compressed and archived sessions are found; of two files of a session, only the plain one', async () => {
  const home = join(path, 'home')
  const other = uuidAt('2026-02-01T11:00:00Z')
  const third = uuidAt('2026-02-01T12:00:00Z')
  write(home, `sessions/2026/02/01/${name}`, text(lines))
  write(home, `sessions/2026/02/01/${name}.zst`, zstdCompressSync(text(lines)))
  write(home, `sessions/2026/02/01/rollout-x-${other}.jsonl.zst`, zstdCompressSync(text([meta(other), prompt('b')])))
  write(home, `archived_sessions/rollout-x-${third}.jsonl`, text([meta(third), prompt('c')]))
  const files = await findSessionFiles([codex], [], { env: { CODEX_HOME: home }, home: path }, () =>
    assert.unreachable(),
  )
  assert.equal(
    files.map((file) => file.path.slice(home.length + 1)),
    [
      `archived_sessions/rollout-x-${third}.jsonl`,
      `sessions/2026/02/01/${name}`,
      `sessions/2026/02/01/rollout-x-${other}.jsonl.zst`,
    ],
  )
  const ids = await Promise.all(files.map(async (file) => (await readSession(file.path, codex)).session.externalId))
  assert.equal(ids, [third, id, other])
})

test('the parent of a sub-agent is the thread that started it (rule 1)', async () => {
  const parentOf = async (more: object) =>
    (await readSession(write(path, `p/${name}`, text([meta(id, { ...more }), prompt('a')])), codex)).session.trace
      .parentExternalId
  const other = uuidAt('2026-02-01T09:00:00Z')
  assert.is(await parentOf({ parent_thread_id: other }), other)
  assert.is(await parentOf({ source: { subagent: { thread_spawn: { parent_thread_id: other } } } }), other)
})

test('a compressed session has the same messages as the plain one', async () => {
  const plain = await readSession(write(path, `a/${name}`, text(lines)), codex)
  const compressed = await readSession(write(path, `a/${name}.zst`, zstdCompressSync(text(lines))), codex)
  assert.equal(compressed.messages, plain.messages)
  assert.equal(compressed.session.trace, plain.session.trace)
  assert.is(compressed.session.externalId, id)
})

test('a damaged compressed session has the messages before the damage, and one reported line', async () => {
  const whole = zstdCompressSync(text(lines))
  const broken = write(path, `b/${name}.zst`, whole.subarray(0, whole.length - 9))
  const { session, malformed } = await readSession(broken, codex)
  assert.is(session.externalId, id)
  assert.is(malformed.length, 1)
  const garbage = await readSession(write(path, `b/rollout-y-${id}.jsonl.zst`, 'garbage'), codex)
  assert.equal([garbage.messages, garbage.malformed, garbage.session.externalId], [[], [1], id])
})

test('a session is recognised by its content, regardless of the file’s name, also in a compressed file', async () => {
  const folder = join(path, 'elsewhere')
  const long = meta(id, { base_instructions: { text: 'x'.repeat(100_000) } })
  const mine = [
    write(folder, 'a.jsonl', text(lines)),
    write(folder, 'b.jsonl', text([long, prompt('x')])),
    write(folder, 'c.jsonl.zst', zstdCompressSync(text(lines))),
  ]
  write(folder, 'd.jsonl', text(['{"type":"user","message":{"content":"x"}}', 'session_meta']))
  write(folder, 'e.jsonl.zst', zstdCompressSync('{"type":"user"}\n'))
  write(folder, 'f.jsonl.zst', 'garbage')
  write(folder, 'g.jsonl', '')
  const files = await findSessionFiles([codex], [folder], { env: {}, home: path }, () => assert.unreachable())
  assert.equal(
    files.map((file) => file.path),
    mine,
  )
})

test('the fields of the trace come from the first session_meta, without credentials (rule 1)', async () => {
  const git = { commit_hash: '0a1b', branch: 'main', repository_url: 'https://me:secret@git.example/x.git' }
  const other = meta('s-2', { cwd: '/w/other', git: { branch: 'other' } })
  assert.equal(await trace(meta('s-1', { git }), other, turn('t-1', 'a'), answer('x'), turn('t-2', 'b'), answer('y')), {
    agentId: 'codex',
    projectPath: '/w/app',
    projectName: 'x',
    model: 'a',
    gitBranch: 'main',
    gitRef: '0a1b',
    gitRemoteUrl: 'https://git.example/x.git',
  })
})

test('the model is the one with the most answers, not with the most turns', async () => {
  const turns = [turn('t-1', 'a'), turn('t-2', 'a'), turn('t-3', 'b'), answer('x')]
  assert.is((await trace(...turns)).model, 'b')
})

test('without a session_meta the id is taken from the file’s name, and the folder from the first turn', async () => {
  const { session } = await readSession(write(path, `c/${name}`, text([turn('t-1'), prompt('x')])), codex)
  assert.equal([session.externalId, session.trace.projectPath], [id, '/w/app'])
  assert.is((await read(prompt('x'))).session.externalId, 'rollout-s')
  assert.match((await read(meta('..'), prompt('x'))).session.externalId, /^session-/)
  assert.is((await read('{"created_at":"2025-09-10","role":"user"}')).messages.length, 0)
})

const row = (of: string, title: string, at: string) => JSON.stringify({ id: of, thread_name: title, updated_at: at })

test('the title is the newest row of the index, else the first prompt (rule 11)', async () => {
  const home = join(path, 'titled')
  const file = write(home, `sessions/2026/02/01/${name}`, text(lines))
  const titleWith = async (...rows: readonly string[]) => {
    write(home, 'session_index.jsonl', text(rows))
    return (await readSession(file, codex)).session.trace.title
  }
  const newest = row(id, 'Newest', '2026-02-03T00:00:00Z')
  assert.is(await titleWith(), 'Fix it')
  assert.is(await titleWith(row('other', 'Other', '2026-02-09T00:00:00Z')), 'Fix it')
  assert.is(await titleWith(row(id, 'Old', '2026-02-02T00:00:00Z'), newest), 'Newest')
  assert.is(await titleWith(newest, row(id, 'Old', '2026-02-02T00:00:00Z')), 'Newest')
  assert.is(await titleWith(newest, row(id, ' ', '2026-02-04T00:00:00Z'), 'no JSON', '{"id":7}'), 'Newest')
  assert.is(await titleWith(row(id, 'New session - 2026', '2026-02-03T00:00:00Z')), 'Fix it')
  assert.is(await titleWith(row(id, 'No time', 'x')), 'No time')
})

test('the session’s latest name takes precedence over the index as the title; names of other sessions are ignored (rule 11)', async () => {
  const home = join(path, 'renamed')
  const named = (threadId: string | undefined, threadName: unknown) =>
    event('thread_name_updated', { thread_id: threadId, thread_name: threadName })
  const file = write(
    home,
    `sessions/2026/02/01/${name}`,
    text([...lines, named(id, 'First'), named(undefined, 'Last'), named('another', 'Not this'), named(id, ' ')]),
  )
  write(home, 'session_index.jsonl', text([JSON.stringify({ id, thread_name: 'Indexed', updated_at: '2026-02-02' })]))
  assert.is((await readSession(file, codex)).session.trace.title, 'Last')
})

test('the stamp changes when the session’s title does, but not when another session’s title does', async () => {
  const home = join(path, 'stamped')
  const file = write(home, `archived_sessions/${name}`, text(lines))
  const stamp = async () => stampOf((await Array.fromAsync(codex.sessions(file)))[0]!)
  const before = await stamp()
  write(home, 'session_index.jsonl', text([row('other', 'Other', '')]))
  assert.is(await stamp(), before)
  write(home, 'session_index.jsonl', text([row('other', 'Other', ''), row(id, 'Named', '')]))
  assert.is.not(await stamp(), before)
})

test('prompts generated by the CLI do not become the title, and an empty session has no title', async () => {
  assert.is((await trace(prompt('<environment_context>x'), prompt('Mine'))).title, 'Mine')
  assert.is((await trace(line('world_state', {}))).title, undefined)
})

test('a file that is missing is an error, not an empty session', async () => {
  const failure = await readSessions(join(path, 'none.jsonl'), codex).catch(
    (error: NodeJS.ErrnoException) => error.code,
  )
  assert.is(failure as unknown, 'ENOENT')
})

test.run()
