import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Session } from '../../../../src/client/agents/agent.ts'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { opencode } from '../../../../src/client/agents/opencode/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { readSession, readSessions } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'
import { otherProcess } from '../support/sqlite/other-process.ts'
import { answerInfo, opencodeDatabase, text, tool, userInfo } from './database-file.ts'

const test = suite('the database of opencode')
const { path: root, remove } = tempFolder()
test.after(remove)

let folders = 0
const newFolder = () => {
  const folder = join(root, String(++folders), 'opencode')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** A database with the sessions `ses_1` and `ses_2`, each with a prompt. */
const newDatabase = () => {
  const folder = newFolder()
  const path = join(folder, 'opencode.db')
  const writer = opencodeDatabase(path)
  writer.project('p')
  for (const id of ['1', '2']) {
    writer.session(`ses_${id}`, { title: `Session ${id}` })
    writer.message(`ses_${id}`, `msg_${id}`, userInfo)
    writer.part(`ses_${id}`, `msg_${id}`, `prt_${id}`, text(`Prompt ${id}`))
  }
  return { folder, path, writer }
}

const stampsOf = async (path: string) =>
  new Map(
    (await Array.fromAsync(opencode.sessions(path))).map((stored) => [
      stored.source.slice(path.length),
      stampOf(stored),
    ]),
  )

test('each session of a database is listed with a source of its own (rule 10)', async () => {
  const { path, writer } = newDatabase()
  writer.session('ses_3', { parent: 'ses_1', title: 'Child session - 2026-03-22T10:00:00.000Z' })
  const found = await readSessions(path, opencode)
  assert.equal(
    found.map(({ session: { externalId, trace }, messages }) => [
      externalId,
      trace.title,
      trace.parentExternalId,
      messages.length,
    ]),
    [
      ['ses_1', 'Session 1', undefined, 1],
      ['ses_2', 'Session 2', undefined, 1],
      ['ses_3', undefined, 'ses_1', 0],
    ],
  )
  assert.equal([...(await stampsOf(path)).keys()], ['#ses_1', '#ses_2', '#ses_3'])
  writer.close()
})

test('a stamp changes with every change of its session, and with no change of another one (rule 2)', async () => {
  const { path, writer } = newDatabase()
  writer.message('ses_1', 'msg_9', answerInfo)
  const changes: readonly (() => void)[] = [
    () => writer.part('ses_1', 'msg_9', 'prt_9', tool('c', 'bash', { status: 'running' })),
    () => writer.part('ses_1', 'msg_9', 'prt_9', tool('c', 'bash', { status: 'completed', output: '' })),
    () => writer.message('ses_1', 'msg_8', answerInfo),
    () => writer.run(`DELETE FROM message WHERE id = 'msg_8'`),
    () => writer.run(`DELETE FROM part WHERE id = 'prt_9'`),
    () => writer.run(`UPDATE session SET revert = '{"messageID":"msg_9"}' WHERE id = 'ses_1'`),
    () => writer.run(`UPDATE session SET revert = NULL WHERE id = 'ses_1'`),
    () => writer.session('ses_1', { title: 'Another' }),
  ]
  let before = await stampsOf(path)
  assert.equal(await stampsOf(path), before)
  for (const [index, change] of changes.entries()) {
    change()
    const after = await stampsOf(path)
    assert.is.not(after.get('#ses_1'), before.get('#ses_1'), `change ${index}`)
    assert.is(after.get('#ses_2'), before.get('#ses_2'))
    before = after
  }
  writer.run('UPDATE project SET time_updated = time_updated + 1000000')
  assert.is.not((await stampsOf(path)).get('#ses_2'), before.get('#ses_2'))
  writer.close()
})

test('a database can be read while opencode writes it, and no file is created beside it (rule 1)', async () => {
  const { folder, path, writer } = newDatabase()
  writer.close()
  assert.is((await readSessions(path, opencode)).length, 2)
  assert.equal(readdirSync(folder), ['opencode.db'])
  const other = otherProcess(
    path,
    `database.exec("BEGIN IMMEDIATE; INSERT INTO part VALUES ('prt_3', 'msg_1', 'ses_1', 1, 1, '{}')"); say('ready')`,
  )
  await other.said()
  assert.equal(
    (await readSessions(path, opencode)).map(({ messages }) => messages.length),
    [1, 1],
  )
  await other.stop()
})

test('messages are from the moment when the session was read; reading it again gives the current ones', async () => {
  const { path, writer } = newDatabase()
  const [stored] = await Array.fromAsync(opencode.sessions(path))
  const session = await stored!.read({ onMalformed: () => assert.unreachable() })
  writer.part('ses_1', 'msg_1', 'prt_9', text('later'))
  const counts = []
  for (let n = 0; n < 3; n++) counts.push((await Array.fromAsync(session.messages()))[0]?.parts.length)
  assert.equal(counts, [1, 2, 2])
  writer.close()
})

test('ids and positions stay the same when the session grows', async () => {
  const { path, writer } = newDatabase()
  const placesOf = async () =>
    (await readSessions(path, opencode))[0]!.messages.map(({ externalId, order }) => [externalId, order])
  const before = await placesOf()
  writer.message('ses_1', 'msg_3', answerInfo)
  writer.part('ses_1', 'msg_3', 'prt_3', text('more'))
  assert.equal(await placesOf(), [...before, ['msg_3', 2]])
  writer.close()
})

test('a session that is deleted after it was listed has no messages', async () => {
  const { path, writer } = newDatabase()
  const [stored] = await Array.fromAsync(opencode.sessions(path))
  for (const table of ['part', 'message', 'session']) writer.run(`DELETE FROM ${table}`)
  const session = await stored!.read({ onMalformed: () => assert.unreachable() })
  assert.equal(await Array.fromAsync(session.messages()), [])
  writer.close()
})

test('missing columns of other versions count as empty, and a database without the tables has no sessions (rule 1)', async () => {
  const bare = join(newFolder(), 'opencode.db')
  const writer = opencodeDatabase(
    bare,
    `CREATE TABLE session(id text); CREATE TABLE message(id text, session_id text, data text);
     CREATE TABLE part(id text, message_id text, data text)`,
  )
  writer.run(`INSERT INTO session VALUES ('ses_1')`)
  writer.run('INSERT INTO message VALUES (?, ?, ?)', 'msg_1', 'ses_1', JSON.stringify(userInfo))
  writer.run('INSERT INTO part VALUES (?, ?, ?)', 'prt_1', 'msg_1', JSON.stringify(text('Fix it')))
  const { session, messages } = await readSession(bare, opencode)
  assert.equal(session.trace, { agentId: 'opencode', title: 'Fix it' })
  assert.is(messages.length, 1)
  const before = await stampsOf(bare)
  writer.run('INSERT INTO part VALUES (?, ?, ?)', 'prt_2', 'msg_1', '{}')
  assert.not.equal(await stampsOf(bare), before)
  writer.close()
  const other = join(newFolder(), 'opencode.db')
  opencodeDatabase(other, 'CREATE TABLE session(id text)').close()
  assert.equal(await readSessions(other, opencode), [])
})

test('the title is the session’s unless it is the default; the model is the one with the most answers (rule 11)', async () => {
  const { path, writer } = newDatabase()
  writer.session('ses_1', { title: 'New session - 2026-03-22T10:00:00.000Z', directory: '/w/my app' })
  for (const [id, modelID] of [
    ['msg_3', 'a'],
    ['msg_4', 'b'],
    ['msg_5', 'b'],
  ] as const) {
    // prettier-ignore
    writer.message('ses_1', id, { ...answerInfo, modelID })
    writer.part('ses_1', id, `prt_${id}`, text('x'))
  }
  const [first] = await readSessions(path, opencode)
  assert.equal(first!.session.trace, {
    agentId: 'opencode',
    title: 'Prompt 1',
    projectPath: '/w/my app',
    projectName: 'my app',
    model: 'b',
  })
  writer.project('p', '/w/shop')
  writer.session('ses_2', { directory: '/data/opencode/worktree/p/calm-fox' })
  const [, second] = await readSessions(path, opencode)
  assert.is(second!.session.trace.projectName, 'shop')
  writer.close()
})

test('a fork names the session whose messages it has copied, under new ids (rule 10)', async () => {
  const { path, writer } = newDatabase()
  const say = (session: string, id: string) => {
    writer.message(session, id, userInfo)
    writer.part(session, id, `prt_${id}`, text(`Prompt ${id}`))
  }
  writer.fork('ses_1', 'ses_3', 'Session 1 (fork #1)')
  writer.fork('ses_1', 'ses_4', 'Session 1 (fork #1)')
  writer.fork('ses_3', 'ses_5', 'Session 1 (fork #2)')
  say('ses_3', 'own')
  writer.fork('ses_3', 'ses_6', 'Renamed')
  writer.fork('ses_3', 'ses_7', 'Session 1 (fork #2)')
  const originsOf = async () =>
    Object.fromEntries(
      (await readSessions(path, opencode)).map(({ session: { externalId, trace } }) => [
        externalId,
        [trace.parentExternalId, trace.parentKind],
      ]),
    )
  const origins = {
    ses_1: [undefined, undefined],
    ses_2: [undefined, undefined],
    ses_3: ['ses_1', 'fork'],
    ses_4: ['ses_1', 'fork'],
    ses_5: ['ses_3', 'fork'],
    ses_6: ['ses_3', 'fork'],
    ses_7: ['ses_3', 'fork'],
  }
  assert.equal(await originsOf(), origins)
  writer.run(`DELETE FROM message WHERE session_id = 'ses_1'`)
  writer.run(`DELETE FROM session WHERE id = 'ses_1'`)
  const { ses_3: third, ses_4: fourth } = await originsOf()
  assert.equal(
    [third, fourth],
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
    'siblings are no origin',
  )
  const fork = (await readSessions(path, opencode)).find(({ session }) => session.externalId === 'ses_6')!
  assert.equal(
    fork.messages.map(({ externalId, parts }) => [externalId, parts[0]?.content]),
    [
      ['msg_1ses_3ses_6', { text: 'Prompt 1' }],
      ['ownses_6', { text: 'Prompt own' }],
    ],
  )
  writer.close()
})

test('a fork of a session that has no title yet has the title of its first prompt (rule 11)', async () => {
  const { path, writer } = newDatabase()
  writer.fork('ses_2', 'ses_3', 'New session - 2026-03-22T10:00:00.000Z (fork #1)')
  const [, , { session }] = (await readSessions(path, opencode)) as [unknown, unknown, { session: Session }]
  assert.equal([session.trace.title, session.trace.parentExternalId], ['Prompt 2', 'ses_2'])
  writer.close()
})

test('a damaged database fails with a clear reason, and other databases are still read', async () => {
  const path = join(newFolder(), 'opencode.db')
  writeFileSync(path, 'not a database'.repeat(1_000))
  const failure = await readSessions(path, opencode).catch((error: unknown) => error)
  assert.match((failure as Error).message, /^the database cannot be read: file is not a database$/)
})

test('databases are searched in the folders of opencode', async () => {
  assert.equal(opencode.roots({}, '/home/me'), ['/home/me/.local/share/opencode'])
  assert.equal(opencode.roots({ XDG_DATA_HOME: '/d' }, '/home/me'), ['/d/opencode'])
  assert.equal(opencode.roots({ OPENCODE_DB: ':memory:' }, '/home/me'), ['/home/me/.local/share/opencode'])
  assert.equal(opencode.roots({ XDG_DATA_HOME: '/d', OPENCODE_DB: 'mine.db' }, '/h')[1], '/d/opencode/mine.db')
  const [folder, elsewhere] = [newFolder(), join(root, 'work.sqlite')]
  for (const place of ['snapshot/x', 'storage/session/p', 'storage/message/s', 'log'])
    mkdirSync(join(folder, place), { recursive: true })
  for (const file of [
    'opencode.db',
    'opencode.db-wal',
    'opencode-dev.db',
    'other.db',
    'snapshot/x/opencode.db',
    'storage/session/p/ses_1.json',
    'storage/message/s/msg_1.json',
  ])
    writeFileSync(join(folder, file), '')
  writeFileSync(elsewhere, '')
  const env = { XDG_DATA_HOME: join(folder, '..'), OPENCODE_DB: elsewhere }
  const found = await findSessionFiles([opencode], [], { env, home: root }, assert.unreachable)
  assert.equal(
    found.map(({ path }) => path.replace(`${folder}/`, '')).sort(),
    [elsewhere, 'opencode-dev.db', 'opencode.db', 'storage/session/p/ses_1.json'].sort(),
  )
})

test.run()
